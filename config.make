# Adds the library to the targets `modules` and `install` of nginx's Makefile.

ngx_cachefront=$NGX_OBJS/ngx_http_cachefront_module.so

case $NGX_MODULES_PATH in
    /*) ngx_modules_path=$NGX_MODULES_PATH ;;
    *) ngx_modules_path=$NGX_PREFIX/$NGX_MODULES_PATH ;;
esac

cat << END                                                    >> $NGX_MAKEFILE

modules:	$ngx_cachefront

# Only cargo knows whether there is anything to build. It reads its configuration where it is called.
.PHONY: $ngx_cachefront
$ngx_cachefront:
	cd "$ngx_addon_dir" && \\
	NGINX_SOURCE_DIR="\$(CURDIR)" NGINX_BUILD_DIR="\$(abspath $NGX_OBJS)" \\
		"${CARGO:-cargo}" build --release --locked --lib \\
		--target-dir "\$(abspath $NGX_OBJS)/ngx-cachefront"
	cp $NGX_OBJS/ngx-cachefront/release/libngx_cachefront.so $ngx_cachefront

install:	install_ngx_cachefront

install_ngx_cachefront:	$ngx_cachefront
	mkdir -p "\$(DESTDIR)$ngx_modules_path"
	cp $ngx_cachefront "\$(DESTDIR)$ngx_modules_path/"
END
