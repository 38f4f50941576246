# photod: make help
PREFIX ?= /usr/local
DESTDIR ?=
UNITDIR ?= $(PREFIX)/lib/systemd/user
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
# Given to install(1). Empty: programs keep their symbols, for a package's own tools to take.
STRIP ?= -s
# The folder that `make run` watches; without it the daemon's own choice, which is your pictures folder.
ROOT ?=
JOBS ?= $(shell nproc)
# The long runs that `make soak` plays; without it all of them.
RUNS ?=

# No writable table of functions.
HARDENING = -Xlinker -z -Xlinker now

RELEASE = .build/release
# Not every shell makes a path of the ~ in NAME=~/...: zsh leaves it, and a unit takes none.
$(foreach name,PREFIX DESTDIR UNITDIR ZSHDIR ROOT RELEASE,$(if $(filter ~/%,$($(name))), \
  $(eval override $(name) := $$($(name):~/%=$$(HOME)/%))))
DOCDIR = $(DESTDIR)$(PREFIX)/share/doc/photod
BASHDIR = $(PREFIX)/share/bash-completion/completions
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d
MANDIR = $(PREFIX)/share/man/man1
DEBDIR = .build/deb
SOURCES = Sources Tests Migrations Package.swift

.PHONY: all help deps build run stop demo build-tests test test-quick soak lint format bench docs install uninstall deb check-deb clean
.SILENT:

all: build

help:
	echo 'make deps                 install what the build needs (Debian packages)'
	echo 'make build                build photod, photoctl and photod-watch'
	echo 'make run [ROOT=DIR]       build, start a daemon on DIR, and say how to query it'
	echo 'make stop                 end that daemon'
	echo 'make demo                 watch 200 made-up photos being added, renamed, edited and deleted'
	echo 'make test-quick           build, and run the tests but the slow ones, in about 100 seconds'
	echo 'make test                 build and test everything, check the style'
	echo 'make soak [RUNS=NAMES]    build, and play the long runs of the tests for hours; Scripts/soak --list names them'
	echo 'make bench                measure'
	echo 'make docs                 make the documentation (DocC)'
	echo 'make install [PREFIX=/usr/local] [DESTDIR=DIR], make uninstall'
	echo 'make deb [RELEASE=DIR]    make a Debian package, of the programs in DIR if given; make check-deb tries it'

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

# A target may import only what Package.swift lets it.
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

lint:
	swift format lint --strict --parallel --recursive $(SOURCES)
	echo 'Style: ok'

format:
	swift format --in-place --parallel --recursive $(SOURCES)

# photod-measure is for this and for the tests alone: no other build makes it.
bench: build
	PHOTOD_BENCHMARKS=1 swift build --quiet -j $(JOBS) -c release --static-swift-stdlib $(HARDENING) --product photod-measure
	Tests/Benchmarks/bench --programs $(RELEASE)

docs: deps
	swift build --quiet -j $(JOBS) --target PhotoClient
	Documentation/build
	echo 'To read it: python3 -m http.server -d .build/documentation/photod.doccarchive, then http://localhost:8000/documentation/photod'

# As root it installs what is built: compile as yourself first.
install:
	test -x '$(RELEASE)/photod-watch' -a -x '$(RELEASE)/photod' -a -x '$(RELEASE)/photoctl' || $(MAKE) build
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/libexec/photod' '$(DESTDIR)$(UNITDIR)' '$(DOCDIR)'
	install $(STRIP) -m 755 '$(RELEASE)/photod' '$(RELEASE)/photoctl' '$(DESTDIR)$(PREFIX)/bin'
	install $(STRIP) -m 755 '$(RELEASE)/photod-watch' '$(DESTDIR)$(PREFIX)/libexec/photod'
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
	install -D -m 644 systemd/hardening.conf '$(DOCDIR)/examples/hardening.conf'
	echo 'Installed in $(DESTDIR)$(PREFIX). To start it for you, now and at every login:'
	echo '  systemctl --user daemon-reload'
	echo '  systemctl --user enable --now photod.socket photod.service'

uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/photod' '$(DESTDIR)$(PREFIX)/bin/photoctl'
	rm -f '$(DESTDIR)$(UNITDIR)/photod.socket' '$(DESTDIR)$(UNITDIR)/photod.service'
	rm -f '$(DESTDIR)$(BASHDIR)/photoctl' '$(DESTDIR)$(ZSHDIR)/_photoctl' '$(DESTDIR)$(FISHDIR)/photoctl.fish'
	rm -f '$(DESTDIR)$(MANDIR)/photod.1' '$(DESTDIR)$(MANDIR)/photoctl.1' '$(DESTDIR)$(MANDIR)/photoctl-'*.1
	rm -rf '$(DESTDIR)$(PREFIX)/libexec/photod' '$(DOCDIR)'
	echo 'Removed from $(DESTDIR)$(PREFIX). Your catalog stays: ~/.local/share/photod'

# RELEASE=DIR, given to make, gets to debian/rules as all that is given does.
deb:
	Scripts/deps chrpath debhelper
	rm -rf $(DEBDIR) && mkdir -p $(DEBDIR)
	DEBDIR=$(DEBDIR) dpkg-buildpackage --build=binary --no-sign --post-clean \
	  --buildinfo-option=-u$(DEBDIR) --buildinfo-file=$(DEBDIR)/photod.buildinfo \
	  --changes-option=-u$(DEBDIR) --changes-file=$(DEBDIR)/photod.changes >$(DEBDIR)/log 2>&1 \
	  || { cat $(DEBDIR)/log >&2; exit 1; }
	ls $(DEBDIR)/*.deb

check-deb: deb
	Scripts/deps dbus-user-session libpam-systemd lintian systemd
	Scripts/check-deb $(DEBDIR)/*.deb

clean: stop
	rm -rf .build
