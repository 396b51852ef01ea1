#include "shim.h"


void
cachefront_variable_set(ngx_variable_value_t *value, const u_char *data,
    size_t len)
{
    value->len = len;
    value->valid = 1;
    value->no_cacheable = 0;
    value->not_found = 0;
    value->data = (u_char *) data;
}


ngx_uint_t
cachefront_request_header_only(const ngx_http_request_t *r)
{
    return r->header_only;
}


ngx_uint_t
cachefront_request_begins_with_range(const ngx_http_request_t *r)
{
    return r->subrequest_ranges && r->headers_in.range != NULL;
}


ngx_uint_t
cachefront_request_needs_temporary(const ngx_http_request_t *r)
{
    return r->filter_need_temporary;
}


void
cachefront_request_need_in_memory(ngx_http_request_t *r)
{
    r->filter_need_in_memory = 1;
}


void
cachefront_request_forbid_ranges(ngx_http_request_t *r)
{
    r->allow_ranges = 0;
}


void
cachefront_request_forbid_caching(ngx_http_request_t *r)
{
    if (r->upstream) {
        r->upstream->cacheable = 0;
    }
}


ngx_uint_t
cachefront_request_is_redirected(const ngx_http_request_t *r)
{
    return r->filter_finalize
           || (r->internal && r->uri_changes != NGX_HTTP_MAX_URI_CHANGES + 1);
}


void
cachefront_request_set_gzip(ngx_http_request_t *r, ngx_uint_t tested,
    ngx_uint_t ok)
{
#if (NGX_HTTP_GZIP)
    r->gzip_tested = tested;
    r->gzip_ok = ok;
#endif
}


ngx_uint_t
cachefront_upstream_modify(void)
{
#if (CACHEFRONT_RESOLVE)
    return NGX_HTTP_UPSTREAM_MODIFY;
#else
    return 0;
#endif
}


ngx_uint_t
cachefront_peers_rlock(ngx_http_upstream_rr_peers_t *peers)
{
    ngx_http_upstream_rr_peers_rlock(peers);

#if (CACHEFRONT_RESOLVE)
    return peers->config ? *peers->config : 0;
#else
    return 0;
#endif
}


void
cachefront_peers_unlock(ngx_http_upstream_rr_peers_t *peers)
{
    ngx_http_upstream_rr_peers_unlock(peers);
}


void
cachefront_peer_lock(ngx_http_upstream_rr_peers_t *peers,
    ngx_http_upstream_rr_peer_t *peer)
{
    ngx_http_upstream_rr_peer_lock(peers, peer);
}


void
cachefront_peer_unlock(ngx_http_upstream_rr_peers_t *peers,
    ngx_http_upstream_rr_peer_t *peer)
{
    ngx_http_upstream_rr_peer_unlock(peers, peer);
}


void
cachefront_peer_take(ngx_http_upstream_rr_peers_t *peers,
    ngx_http_upstream_rr_peer_t *peer, ngx_peer_connection_t *pc)
{
#if (CACHEFRONT_RESOLVE)
    ngx_http_upstream_rr_peer_ref(peers, peer);
#endif

#if (NGX_HTTP_UPSTREAM_SID)
    pc->sid = &peer->sid;
#endif
}


ngx_uint_t
cachefront_server_resolves(const ngx_http_upstream_server_t *server)
{
#if (CACHEFRONT_RESOLVE)
    return server->host.len != 0;
#else
    return 0;
#endif
}


ngx_http_upstream_rr_peer_t *
cachefront_peers_resolve(const ngx_http_upstream_rr_peers_t *peers)
{
#if (CACHEFRONT_RESOLVE)
    return peers->resolve;
#else
    return NULL;
#endif
}


const void *
cachefront_peer_host(const ngx_http_upstream_rr_peer_t *peer)
{
#if (CACHEFRONT_RESOLVE)
    return peer->host;
#else
    return NULL;
#endif
}
