# nginx with the module and the demo's configuration:
#
#   docker build -t ngx-cachefront .
#   docker run -p 8080:8080 ngx-cachefront
#
# It is Debian's nginx. `--build-arg NGINX=nginx:1.28` takes the official image of that name instead (a
# Debian-based one: the module needs glibc) and builds the module for the version in it.

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
COPY packaging/docker/sources.sh scripts/configure-nginx.sh ./
COPY --from=nginx /nginx-version ./
RUN ./sources.sh nginx-version /usr/src/nginx
COPY . .
RUN make build NGINX_SOURCE_DIR=/usr/src/nginx CARGO_TARGET_DIR=/usr/src/target

FROM nginx
RUN rm /nginx-version
COPY --from=build /usr/src/target/release/libngx_cachefront.so /usr/lib/nginx/modules/ngx_http_cachefront_module.so
COPY nginx-conf/container.conf /etc/nginx/nginx.conf
EXPOSE 8080
STOPSIGNAL SIGQUIT
CMD ["nginx", "-g", "daemon off;"]
