# make build        build/lakesweep, static
# make sample       builds lakesweep and cleans a sample table with it
# make test         the fast tests
# make ci           everything that has to pass
# make image-files  what the Dockerfile puts into an image; for Linux, so run it there
# make clean        removes build

export CGO_ENABLED = 0
out = build
roots = /etc/ssl/certs/ca-certificates.crt
table = $(out)/sample-table

.PHONY: build image-files sample test ci clean

build:
	go build -o $(out)/lakesweep ./cmd/lakesweep

# The roots of trust are this machine's; roots=FILE names others.
image-files: build
	rm -rf $(out)/image
	mkdir -p $(out)/image/tmp $(out)/image/home/lakesweep $(out)/image/etc/ssl/certs $(out)/image/usr/local/bin
	cp $(roots) $(out)/image/etc/ssl/certs/ca-certificates.crt
	cp $(out)/lakesweep $(out)/image/usr/local/bin/
	tar -C $(out)/image --owner=0 --group=0 -cf $(out)/image.tar etc usr
	tar -C $(out)/image --owner=65532 --group=65532 -rf $(out)/image.tar home tmp

sample: build
	rm -rf $(table)
	go run ./examples/sample $(table)
	$(out)/lakesweep plan $(table) --out $(out)/sample.plan
	$(out)/lakesweep apply $(out)/sample.plan --yes
	$(out)/lakesweep verify $(table)

test:
	go test ./...

ci:
	bash .ci/run

clean:
	rm -rf $(out)
