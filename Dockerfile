# nginx with the module and the demo's configuration:
#
#   docker build -t ngx-cachefront .
#   docker run -p 8080:8080 ngx-cachefront
#
# It is Debian's nginx. `--build-arg NGINX=nginx:1.28` takes the official image of that name instead and builds
# the module for the version in it. It must be one of Debian 12 or newer, as those of nginx 1.26 and newer are:
# the module needs glibc 2.34. Those of 1.22 and 1.24 are of Debian 11, and those named alpine have musl; the
# last step ends with nginx's own error for them. For an official image, nginx's release is fetched;
# `--build-arg NGINX_SHA256=...` says which checksum it must have.

ARG NGINX=debian:trixie-slim

FROM ${NGINX} AS nginx
RUN command -v nginx >/dev/null \
    || { apt-get update \
         && apt-get install --yes --no-install-recommends nginx \
         && rm -rf /var/lib/apt/lists/*; }
RUN nginx -V 2>/nginx-version

FROM debian:trixie-slim AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates cargo curl gcc libc6-dev libclang-dev make nginx nginx-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /usr/src/ngx-cachefront
# The release of nginx's sources that an official image was built from, if one is asked for.
ARG NGINX_SOURCES=https://nginx.org/download
ARG NGINX_SHA256=
COPY packaging/docker/sources.sh scripts/configure-nginx.sh ./
COPY --from=nginx /nginx-version ./
RUN ./sources.sh nginx-version /usr/src/nginx
COPY . .
RUN make build NGINX_SOURCE_DIR=/usr/src/nginx CARGO_TARGET_DIR=/usr/src/target

FROM nginx
RUN rm /nginx-version
COPY --from=build /usr/src/target/release/libngx_cachefront.so /usr/lib/nginx/modules/ngx_http_cachefront_module.so
COPY nginx-conf/container.conf /etc/nginx/nginx.conf
# Rather now than when it is started.
RUN nginx -t \
    || { echo "error: the nginx of this image does not load the module; it must be of Debian 12 or newer, not Alpine" >&2; \
         exit 1; }
EXPOSE 8080
STOPSIGNAL SIGQUIT
CMD ["nginx", "-g", "daemon off;"]
