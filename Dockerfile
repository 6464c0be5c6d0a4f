# An image with windlass, its ClickHouse engine and the word vectors in it, so that nothing is fetched when it runs.
# For linux/amd64, the platform with a pinned engine. docs/install.md says how to build and use it.
ARG GO_VERSION=1.26.8
ARG NODE_VERSION=22.21.1
ARG DEBIAN_VERSION=12.12

# The program, as the archives of a release have it.
FROM golang:${GO_VERSION}-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=devel
ARG COMMIT=""
ARG SOURCE_DATE_EPOCH=315532800
RUN cd tools && go run ./dist -out /dist -version "$VERSION" -commit "$COMMIT" -time "$SOURCE_DATE_EPOCH" linux/amd64 \
    && mkdir /package && tar -xzf /dist/windlass_*_linux_amd64.tar.gz -C /package --strip-components=1

# The engine and the word vectors: windlass fetches them with npm and holds them against the checksums that it knows.
FROM node:${NODE_VERSION}-bookworm-slim AS engine
COPY --from=build /package/windlass /usr/local/bin/windlass
RUN WINDLASS_HOME=/tmp/windlass WINDLASS_CACHE=/cache windlass fetch engine vectors && chmod -R a+rX,go-w /cache

FROM debian:${DEBIAN_VERSION}-slim AS windlass
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /package/LICENSE /package/LICENSES.csv /usr/share/doc/windlass/
COPY --from=build /package/licenses /usr/share/doc/windlass/licenses
COPY --from=engine /cache /opt/windlass/cache
COPY --from=build --chmod=755 /package/windlass /usr/local/bin/windlass
RUN useradd --system --uid 10001 --user-group --home-dir /home/windlass --create-home windlass \
    && install -d -o windlass -g windlass -m 700 /var/lib/windlass \
    && install -d -o windlass -g windlass /work
ENV WINDLASS_HOME=/var/lib/windlass \
    WINDLASS_CACHE=/opt/windlass/cache
VOLUME ["/var/lib/windlass"]
WORKDIR /work
USER 10001:10001
ENTRYPOINT ["windlass"]
CMD ["--help"]

# The same, made to serve: docker build --target serve.
FROM windlass AS serve
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8765 && printf 'GET /api/openapi.json HTTP/1.0\\r\\nHost: 127.0.0.1\\r\\n\\r\\n' >&3 && read -r -t 4 answer <&3 && [[ $answer == HTTP/* ]]"]
CMD ["serve", "--listen", "0.0.0.0:8765", "--root", "/work"]

# Without --target the image is the one without a server.
FROM windlass
