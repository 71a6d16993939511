# make sample   builds lakesweep and cleans a sample table with it
# make test     the fast tests
# make ci       everything that has to pass

export CGO_ENABLED = 0
out = build
table = $(out)/sample-table

.PHONY: build sample test ci clean

build:
	go build -o $(out)/lakesweep ./cmd/lakesweep

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
