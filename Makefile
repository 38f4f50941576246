# photod: make help
PREFIX ?= /usr/local
DESTDIR ?=
UNITDIR ?= $(PREFIX)/lib/systemd/user
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
# An option of install(1). If it is empty, the programs keep their symbols, and the tools of a package remove them.
STRIP ?= -s
# The folder that `make run` watches. Without it, photod watches your pictures folder.
ROOT ?=
JOBS ?= $(shell nproc)
# The long tests that `make soak` runs. Without it, all of them run.
RUNS ?=
# How long `make fuzz` runs each fuzz target, and which. Without names, all of them run.
SECONDS ?= 60
TARGETS ?=
# The version of systemd on which `make check-deb` tests. Without it, that of this system.
SYSTEMD ?=
# A folder with older programs, with which `make bench` compares the built ones.
BESIDE ?=

# No writable table of functions.
HARDENING = -Xlinker -z -Xlinker now

RELEASE = .build/release
# zsh does not expand the ~ of NAME=~/..., and a unit can't have one.
$(foreach name,PREFIX DESTDIR UNITDIR ZSHDIR ROOT RELEASE,$(if $(filter ~/%,$($(name))), \
  $(eval override $(name) := $$($(name):~/%=$$(HOME)/%))))
DOCDIR = $(DESTDIR)$(PREFIX)/share/doc/photod
BASHDIR = $(PREFIX)/share/bash-completion/completions
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d
MANDIR = $(PREFIX)/share/man/man1
DEBDIR = .build/deb
SOURCES = Sources Examples Tests Migrations Package.swift

.PHONY: all help deps build run stop demo build-tests test test-quick soak fuzz lint format bench docs install uninstall deb check-deb clean
.SILENT:

all: build

help:
	echo 'make deps                 install what the build needs (Debian packages)'
	echo 'make build                build photod, photoctl, photod-watch, photod-extract, photod-image, photod-preview and photod-video'
	echo 'make run [ROOT=DIR]       build, start a daemon on DIR, and print how to query it'
	echo 'make stop                 end that daemon'
	echo 'make demo                 make 200 sample photos, change some of them, and show the events'
	echo 'make test-quick           build, and run all tests except the slow ones, in 100 seconds'
	echo 'make test                 build and test everything, check the style'
	echo 'make soak [RUNS=NAMES]    build, and run the long tests for hours; Scripts/soak --list names them'
	echo 'make fuzz [SECONDS=60] [TARGETS=NAMES]'
	echo '                          give each parser made-up inputs for this time (libFuzzer)'
	echo 'make bench [BESIDE=DIR]   run the measurements; beside those of the older programs in DIR'
	echo 'make docs                 build the documentation (DocC)'
	echo 'make install [PREFIX=/usr/local] [DESTDIR=DIR], make uninstall'
	echo 'make deb [RELEASE=DIR]    make the Debian packages photod, photod-images and photod-videos,'
	echo '                          with the programs of DIR if it is given'
	echo 'make check-deb [SYSTEMD=257]'
	echo '                          make the Debian packages, and test them, on this version of systemd if it is given'

deps:
	Scripts/deps

build: deps
	echo 'Building (the first time takes some minutes) ...'
	swift build --quiet -j $(JOBS) -c release --static-swift-stdlib $(HARDENING)

run: build
	Scripts/run $(RELEASE) '$(ROOT)'

stop:
	Scripts/stop

demo: build
	Scripts/demo $(RELEASE)

# A target may import only the targets that Package.swift lists for it.
build-tests: deps
	Scripts/deps --tests
	echo 'Building the tests (the first time takes some minutes) ...'
	PHOTOD_BENCHMARKS=1 swift build --quiet -j $(JOBS) --explicit-target-dependency-import-check error --build-tests

# The style first, so that the test runner has the last word.
test: lint build-tests
	Scripts/test

test-quick: build-tests
	Scripts/test-quick

soak: build-tests
	Scripts/soak $(RUNS)

# The targets are built with the options of libFuzzer, in a folder of their own.
fuzz: deps
	JOBS=$(JOBS) Scripts/fuzz '$(SECONDS)' $(TARGETS)

lint:
	swift format lint --strict --parallel --recursive $(SOURCES)
	echo 'Style: ok'

format:
	swift format --in-place --parallel --recursive $(SOURCES)

# Only the measurements and the tests need photod-measure, so other builds don't build it.
bench: build
	PHOTOD_BENCHMARKS=1 swift build --quiet -j $(JOBS) -c release --static-swift-stdlib $(HARDENING) --product photod-measure
	Tests/Benchmarks/bench --programs $(RELEASE) $(if $(BESIDE),--beside '$(BESIDE)')

docs: deps
	swift build --quiet -j $(JOBS) --target PhotoPredicates
	Documentation/build
	echo 'To read it: python3 -m http.server -d .build/documentation/photod.doccarchive, then http://localhost:8000/documentation/photod'

# Root should not compile, so run `make build` as your own user first. The folders that are made are listed, so that
# `make uninstall` removes them, too. A package has its own list.
install:
	for path in '$(PREFIX)' '$(UNITDIR)'; do case $$path in /*) ;; *) \
	  echo "make install: '$$path' is no absolute path. Begin PREFIX and UNITDIR with / or ~/ ." >&2; exit 1;; esac; done
	test -x '$(RELEASE)/photod-watch' -a -x '$(RELEASE)/photod-extract' -a -x '$(RELEASE)/photod-image' -a -x '$(RELEASE)/photod-preview' -a -x '$(RELEASE)/photod-video' -a -x '$(RELEASE)/photod' -a -x '$(RELEASE)/photoctl' || $(MAKE) build
	test -n '$(DESTDIR)' || { folders=$$(Scripts/missing-folders '$(PREFIX)/bin' '$(PREFIX)/libexec/photod' '$(UNITDIR)' \
	  '$(BASHDIR)' '$(ZSHDIR)' '$(FISHDIR)' '$(MANDIR)' '$(DOCDIR)/examples') && install -d '$(DOCDIR)' \
	  && printf '%s\n' "$$folders" >>'$(DOCDIR)/folders'; }
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/libexec/photod' '$(DESTDIR)$(UNITDIR)' '$(DOCDIR)'
	install $(STRIP) -m 755 '$(RELEASE)/photod' '$(RELEASE)/photoctl' '$(DESTDIR)$(PREFIX)/bin'
	install $(STRIP) -m 755 '$(RELEASE)/photod-watch' '$(RELEASE)/photod-extract' '$(RELEASE)/photod-image' '$(RELEASE)/photod-preview' '$(RELEASE)/photod-video' '$(DESTDIR)$(PREFIX)/libexec/photod'
	install -m 644 systemd/photod.socket '$(DESTDIR)$(UNITDIR)'
	sed 's|^ExecStart=.*|ExecStart=$(PREFIX)/bin/photod|' systemd/photod.service >'$(DESTDIR)$(UNITDIR)/photod.service'
	chmod 644 '$(DESTDIR)$(UNITDIR)/photod.service'
	install -d '$(DESTDIR)$(BASHDIR)' '$(DESTDIR)$(ZSHDIR)' '$(DESTDIR)$(FISHDIR)'
	'$(RELEASE)/photoctl' completions bash >'$(DESTDIR)$(BASHDIR)/photoctl'
	'$(RELEASE)/photoctl' completions zsh >'$(DESTDIR)$(ZSHDIR)/_photoctl'
	'$(RELEASE)/photoctl' completions fish >'$(DESTDIR)$(FISHDIR)/photoctl.fish'
	chmod 644 '$(DESTDIR)$(BASHDIR)/photoctl' '$(DESTDIR)$(ZSHDIR)/_photoctl' '$(DESTDIR)$(FISHDIR)/photoctl.fish'
	Documentation/manual '$(DESTDIR)$(MANDIR)' '$(RELEASE)/photod' '$(RELEASE)/photoctl'
	chmod 644 '$(DESTDIR)$(MANDIR)/photod.1' '$(DESTDIR)$(MANDIR)/photoctl'*.1
	install -m 644 LICENSE README.md CHANGELOG.md '$(DOCDIR)'
	install -m 644 Sources/photod-watch/COPYING '$(DOCDIR)/COPYING.photod-watch'
	install -m 644 Sources/photod-image/COPYING '$(DOCDIR)/COPYING.photod-image'
	install -m 644 Sources/photod-video/COPYING '$(DOCDIR)/COPYING.photod-video'
	install -D -m 644 systemd/hardening.conf '$(DOCDIR)/examples/hardening.conf'
	# The paths are those of the source, so that the links of README.md and of the articles work.
	install -d '$(DOCDIR)/Documentation/photod.docc' '$(DOCDIR)/Sources/PhotoContract'
	install -m 644 Documentation/*.md Documentation/photoctl.svg '$(DOCDIR)/Documentation'
	install -m 644 Documentation/photod.docc/*.md '$(DOCDIR)/Documentation/photod.docc'
	install -m 644 Sources/PhotoContract/*.varlink '$(DOCDIR)/Sources/PhotoContract'
	test -n '$(DESTDIR)' && echo 'Installed in $(DESTDIR)$(PREFIX).' || Scripts/after-install '$(PREFIX)' '$(UNITDIR)'

uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/photod' '$(DESTDIR)$(PREFIX)/bin/photoctl'
	rm -f '$(DESTDIR)$(UNITDIR)/photod.socket' '$(DESTDIR)$(UNITDIR)/photod.service'
	rm -f '$(DESTDIR)$(BASHDIR)/photoctl' '$(DESTDIR)$(ZSHDIR)/_photoctl' '$(DESTDIR)$(FISHDIR)/photoctl.fish'
	rm -f '$(DESTDIR)$(MANDIR)/photod.1' '$(DESTDIR)$(MANDIR)/photoctl.1' '$(DESTDIR)$(MANDIR)/photoctl-'*.1
	folders=$$(cat '$(DOCDIR)/folders' 2>/dev/null | sort -ru); \
	  rm -rf '$(DESTDIR)$(PREFIX)/libexec/photod' '$(DOCDIR)'; \
	  printf '%s\n' "$$folders" | while read -r folder; do \
	    [ ! -d "$$folder" ] || rmdir --ignore-fail-on-non-empty "$$folder"; done
	echo 'Removed from $(DESTDIR)$(PREFIX). Your catalog in ~/.local/share/photod is kept.'

# make passes RELEASE=DIR on to debian/rules.
deb:
	Scripts/deps chrpath debhelper
	rm -rf $(DEBDIR) && mkdir -p $(DEBDIR)
	DEBDIR=$(DEBDIR) dpkg-buildpackage --build=binary --no-sign --post-clean \
	  --buildinfo-option=-u$(DEBDIR) --buildinfo-file=$(DEBDIR)/photod.buildinfo \
	  --changes-option=-u$(DEBDIR) --changes-file=$(DEBDIR)/photod.changes >$(DEBDIR)/log 2>&1 \
	  || { cat $(DEBDIR)/log >&2; exit 1; }
	ls $(DEBDIR)/*.deb

check-deb: deb
	Scripts/deps dbus-user-session libheif-examples libpam-systemd lintian systemd
	Scripts/check-deb $(if $(SYSTEMD),--systemd '$(SYSTEMD)') $(DEBDIR)/photod_*.deb

clean: stop
	rm -rf .build .build-fuzz
