/*
 * Functions for what nginx has only as macros, as inline functions, as bit
 * fields, or not in every version.
 */

#ifndef CACHEFRONT_SHIM_H
#define CACHEFRONT_SHIM_H

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

/* Gives a variable a value, of less than 2^28 bytes. */
void cachefront_variable_set(ngx_variable_value_t *value, const u_char *data,
    size_t len);

/*
 * The bit fields of a request. Since 1.29.3 they begin in the middle of a
 * word, behind "port", and bindgen, which takes them to begin one, misplaces
 * those that the compiler moves on to the next word.
 */
ngx_uint_t cachefront_request_header_only(const ngx_http_request_t *r);
ngx_uint_t cachefront_request_begins_with_range(const ngx_http_request_t *r);
ngx_uint_t cachefront_request_needs_temporary(const ngx_http_request_t *r);
void cachefront_request_need_in_memory(ngx_http_request_t *r);
void cachefront_request_forbid_ranges(ngx_http_request_t *r);
void cachefront_request_forbid_caching(ngx_http_request_t *r);

/* Whether contexts of modules may have been cleared since it began. */
ngx_uint_t cachefront_request_is_redirected(const ngx_http_request_t *r);

/* Nothing to do in an nginx that has neither gzip nor gunzip. */
void cachefront_request_set_gzip(ngx_http_request_t *r, ngx_uint_t tested,
    ngx_uint_t ok);

/* Since 1.27.3 names of servers may be resolved at run time ("resolve"). */
#if (NGX_HTTP_UPSTREAM_ZONE) && defined(NGX_HTTP_UPSTREAM_MODIFY)
#define CACHEFRONT_RESOLVE  1
#endif

/* The flag of a method that copes with that; 0 where nginx has none. */
ngx_uint_t cachefront_upstream_modify(void);

/* Returns a number that changes whenever a peer comes or goes. */
ngx_uint_t cachefront_peers_rlock(ngx_http_upstream_rr_peers_t *peers);
void cachefront_peers_unlock(ngx_http_upstream_rr_peers_t *peers);
void cachefront_peer_lock(ngx_http_upstream_rr_peers_t *peers,
    ngx_http_upstream_rr_peer_t *peer);
void cachefront_peer_unlock(ngx_http_upstream_rr_peers_t *peers,
    ngx_http_upstream_rr_peer_t *peer);

/*
 * Keeps the peer's memory until the peer is freed, should its name lose it,
 * and tells "sticky", where nginx has it, which peer it is.
 */
void cachefront_peer_take(ngx_http_upstream_rr_peers_t *peers,
    ngx_http_upstream_rr_peer_t *peer, ngx_peer_connection_t *pc);

/* Whether the server's name is resolved at run time. */
ngx_uint_t cachefront_server_resolves(const ngx_http_upstream_server_t *server);

/* One entry for each such server, in their order; NULL if there are none. */
ngx_http_upstream_rr_peer_t *cachefront_peers_resolve(
    const ngx_http_upstream_rr_peers_t *peers);

/* What the entry and the peers made of it have in common; NULL for others. */
const void *cachefront_peer_host(const ngx_http_upstream_rr_peer_t *peer);

#endif /* CACHEFRONT_SHIM_H */
