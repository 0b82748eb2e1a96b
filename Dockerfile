# Ladder with its virtual GPU, on Debian 13. scripts/setup decides what is installed. Not tried:
# there was no container engine where this was written; scripts/try-clean runs the same steps in a
# chroot.
#   docker build -t ladder . && docker run --rm ladder climb
#   docker run --rm --gpus all ladder climb      # with NVIDIA's container toolkit: on the GPU
FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git make
WORKDIR /ladder
COPY Makefile ./
COPY scripts scripts
RUN scripts/setup --for climb
COPY . .
RUN make build
ENTRYPOINT ["build/bin/ladder"]
CMD ["climb"]
