# The static binary, the roots of trust and two folders to write to, gathered by
# make image-files. Nothing is fetched. Journals belong on a volume: mount one at
# /home/lakesweep, or name another place with --state-dir.
FROM scratch
ADD build/image.tar /
ENV HOME=/home/lakesweep
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/lakesweep"]
