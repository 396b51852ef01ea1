/*
 * An LD_PRELOAD library for nginx: the functions that the module has of nginx
 * and that take memory fail for it, one call at a time, as they do when there
 * is none left.
 *
 * FAIL_ALLOC names a file that all processes share: two 32-bit numbers, the call
 * that is to fail, counted from 1 (0: none), and how many calls there have been;
 * and the name of the function that failed.  Only the module's own calls are counted.  nginx finds its functions in
 * itself before any preloaded library, so they are not taken over by name:
 * once the module has been loaded, its table of imported functions is changed.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>


#define N_ELEMENTS(array)  (sizeof(array) / sizeof((array)[0]))

/* What nginx's functions of either kind return without memory. */
#define NONE   ((void *) 0)
#define ERROR  ((void *) -1)

#define MODULE  "cachefront"


static struct {
    uint32_t  fail_at;
    uint32_t  count;
    char      name[56];
} *control;


static int
fails(const char *name)
{
    uint32_t  call;

    call = __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST);

    if (call != __atomic_load_n(&control->fail_at, __ATOMIC_SEQ_CST)) {
        return 0;
    }

    strncpy(control->name, name, sizeof(control->name) - 1);
    return 1;
}


/* All of them take up to five pointers or numbers, and return one. */

typedef void *(*function)(void *, void *, void *, void *, void *);

#define FAULTY(name, failure)                                                 \
    static function  real_##name;                                             \
                                                                              \
    static void *                                                             \
    faulty_##name(void *a, void *b, void *c, void *d, void *e)                \
    {                                                                         \
        return fails(#name) ? failure : real_##name(a, b, c, d, e);                \
    }

#define ENTRY(name)  { #name, faulty_##name, &real_##name }

FAULTY(ngx_alloc_chain_link, NONE)
FAULTY(ngx_array_push, NONE)
FAULTY(ngx_create_temp_buf, NONE)
FAULTY(ngx_http_add_variable, NONE)
FAULTY(ngx_http_compile_complex_value, ERROR)
FAULTY(ngx_http_complex_value, ERROR)
FAULTY(ngx_http_get_flushed_variable, NONE)
FAULTY(ngx_http_get_indexed_variable, NONE)
FAULTY(ngx_http_get_variable_index, ERROR)
FAULTY(ngx_http_upstream_init_round_robin, ERROR)
FAULTY(ngx_http_upstream_init_round_robin_peer, ERROR)
FAULTY(ngx_list_push, NONE)
FAULTY(ngx_palloc, NONE)
FAULTY(ngx_pcalloc, NONE)
FAULTY(ngx_pnalloc, NONE)
FAULTY(ngx_pool_cleanup_add, NONE)

static struct {
    const char  *name;
    function     faulty;
    function    *real;
} functions[] = {
    ENTRY(ngx_alloc_chain_link),
    ENTRY(ngx_array_push),
    ENTRY(ngx_create_temp_buf),
    ENTRY(ngx_http_add_variable),
    ENTRY(ngx_http_compile_complex_value),
    ENTRY(ngx_http_complex_value),
    ENTRY(ngx_http_get_flushed_variable),
    ENTRY(ngx_http_get_indexed_variable),
    ENTRY(ngx_http_get_variable_index),
    ENTRY(ngx_http_upstream_init_round_robin),
    ENTRY(ngx_http_upstream_init_round_robin_peer),
    ENTRY(ngx_list_push),
    ENTRY(ngx_palloc),
    ENTRY(ngx_pcalloc),
    ENTRY(ngx_pnalloc),
    ENTRY(ngx_pool_cleanup_add),
};


static void
die(const char *reason)
{
    fprintf(stderr, "fail_alloc: %s\n", reason);
    abort();
}


/* Puts the faulty function in the place of the one that a slot holds. */

static void
replace(const char *name, void **slot)
{
    size_t     i;
    uintptr_t  page, size;

    for (i = 0; i < N_ELEMENTS(functions); i++) {
        if (strcmp(functions[i].name, name) != 0) {
            continue;
        }

        size = sysconf(_SC_PAGESIZE);
        page = (uintptr_t) slot & ~(size - 1);

        /* The loader has made the table read-only ("-z relro"). */
        if (mprotect((void *) page, size, PROT_READ | PROT_WRITE) == -1) {
            die("mprotect() failed");
        }

        *functions[i].real = (function) *slot;
        *slot = (void *) functions[i].faulty;
        return;
    }
}


static void
replace_all(struct link_map *map)
{
    char              *strings;
    size_t             i, sizes[2];
    ElfW(Dyn)         *dyn;
    ElfW(Sym)         *symbols;
    ElfW(Rela)        *rela, *end, *tables[2];

    strings = NULL;
    symbols = NULL;
    memset(tables, 0, sizeof(tables));
    memset(sizes, 0, sizeof(sizes));

    for (dyn = map->l_ld; dyn->d_tag != DT_NULL; dyn++) {
        switch (dyn->d_tag) {
        case DT_STRTAB:   strings = (char *) dyn->d_un.d_ptr;           break;
        case DT_SYMTAB:   symbols = (ElfW(Sym) *) dyn->d_un.d_ptr;      break;
        case DT_JMPREL:   tables[0] = (ElfW(Rela) *) dyn->d_un.d_ptr;   break;
        case DT_PLTRELSZ: sizes[0] = dyn->d_un.d_val;                   break;
        case DT_RELA:     tables[1] = (ElfW(Rela) *) dyn->d_un.d_ptr;   break;
        case DT_RELASZ:   sizes[1] = dyn->d_un.d_val;                   break;
        }
    }

    for (i = 0; i < N_ELEMENTS(tables); i++) {
        end = tables[i] + sizes[i] / sizeof(ElfW(Rela));

        for (rela = tables[i]; rela < end; rela++) {
            if (ELF64_R_SYM(rela->r_info) != 0) {
                replace(strings + symbols[ELF64_R_SYM(rela->r_info)].st_name,
                        (void **) (map->l_addr + rela->r_offset));
            }
        }
    }
}


void *
dlopen(const char *file, int mode)
{
    int           fd;
    void         *handle;
    const char   *path;
    static int    replaced;
    static void *(*real)(const char *, int);

    if (real == NULL) {
        real = (void *(*)(const char *, int)) dlsym(RTLD_NEXT, "dlopen");
    }

    handle = real(file, mode);

    if (handle == NULL || file == NULL || strstr(file, MODULE) == NULL) {
        return handle;
    }

    if (control == NULL) {
        path = getenv("FAIL_ALLOC");
        fd = path ? open(path, O_RDWR) : -1;
        if (fd == -1) {
            die("FAIL_ALLOC does not name a file");
        }

        control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE,
                       MAP_SHARED, fd, 0);
        close(fd);
        if (control == MAP_FAILED) {
            die("mmap() failed");
        }
    }

    /* A reload opens the module that is open: its table is changed only once. */
    if (!replaced) {
        replaced = 1;
        replace_all(handle);
    }

    return handle;
}
