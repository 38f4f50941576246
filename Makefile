# photod: make help
PREFIX ?= /usr/local
DESTDIR ?=
UNITDIR ?= $(PREFIX)/lib/systemd/user
# The folder that `make run` watches; without it the daemon's own choice, which is your pictures folder.
ROOT ?=
JOBS ?= $(shell nproc)

RELEASE = .build/release
DOCDIR = $(DESTDIR)$(PREFIX)/share/doc/photod
SOURCES = Sources Tests Migrations Package.swift

.PHONY: all help deps build run stop demo test lint format bench install uninstall clean
.SILENT:

all: build

help:
	echo 'make deps                 install what the build needs (Debian packages)'
	echo 'make build                build photod, photoctl and photod-watch'
	echo 'make run [ROOT=DIR]       build, start a daemon on DIR, and say how to query it'
	echo 'make stop                 end that daemon'
	echo 'make demo                 watch 200 made-up photos being added, renamed, edited and deleted'
	echo 'make test                 build and test everything, check the style'
	echo 'make bench                measure'
	echo 'make install [PREFIX=/usr/local] [DESTDIR=DIR], make uninstall'

deps:
	Tests/Scripts/deps

build: deps
	echo 'Building (the first time takes some minutes) ...'
	swift build --quiet -j $(JOBS) -c release --static-swift-stdlib

run: build
	Tests/Scripts/run $(RELEASE) '$(ROOT)'

stop:
	Tests/Scripts/stop

demo: build
	Tests/Scripts/demo $(RELEASE)

# The style first, so that the test runner has the last word.
test: deps lint
	echo 'Building the tests (the first time takes some minutes) ...'
	swift build --quiet -j $(JOBS) --build-tests
	swift test --skip-build --disable-xctest

lint:
	swift format lint --strict --parallel --recursive $(SOURCES)
	echo 'Style: ok'

format:
	swift format --in-place --parallel --recursive $(SOURCES)

bench: build
	Tests/Benchmarks/bench --programs $(RELEASE)

# As root it installs what is built: compile as yourself first.
install:
	test -x $(RELEASE)/photod-watch -a -x $(RELEASE)/photod -a -x $(RELEASE)/photoctl || $(MAKE) build
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/photod $(DESTDIR)$(UNITDIR) $(DOCDIR)
	install -s -m 755 $(RELEASE)/photod $(RELEASE)/photoctl $(DESTDIR)$(PREFIX)/bin
	install -s -m 755 $(RELEASE)/photod-watch $(DESTDIR)$(PREFIX)/libexec/photod
	install -m 644 systemd/photod.socket $(DESTDIR)$(UNITDIR)
	sed 's|^ExecStart=.*|ExecStart=$(PREFIX)/bin/photod|' systemd/photod.service >$(DESTDIR)$(UNITDIR)/photod.service
	chmod 644 $(DESTDIR)$(UNITDIR)/photod.service
	install -m 644 LICENSE README.md CHANGELOG.md $(DOCDIR)
	install -m 644 Sources/photod-watch/COPYING $(DOCDIR)/COPYING.photod-watch
	echo 'Installed in $(DESTDIR)$(PREFIX). To start it for you, now and at every login:'
	echo '  systemctl --user daemon-reload'
	echo '  systemctl --user enable --now photod.socket photod.service'

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/photod $(DESTDIR)$(PREFIX)/bin/photoctl
	rm -f $(DESTDIR)$(UNITDIR)/photod.socket $(DESTDIR)$(UNITDIR)/photod.service
	rm -rf $(DESTDIR)$(PREFIX)/libexec/photod $(DOCDIR)
	echo 'Removed from $(DESTDIR)$(PREFIX). Your catalog stays: ~/.local/share/photod'

clean: stop
	rm -rf .build
