// Package serve offers the API on an address, and ends without cutting off who can be served.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/authoring"
	"github.com/windlass-run/windlass/internal/server/certificate"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/inspector"
	"github.com/windlass-run/windlass/internal/server/overview"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/server/people"
	"github.com/windlass-run/windlass/internal/server/runs"
	"github.com/windlass-run/windlass/internal/server/token"
	"github.com/windlass-run/windlass/internal/server/web"
	"github.com/windlass-run/windlass/internal/waits"
)

// Options say what is offered, and where.
type Options struct {
	App         *core.App         // what runs are started with; it outlives the service
	Listen      string            // HOST:PORT; port 0 is any
	Token       string            // that clients have to show; "": it makes one, in a private file
	Certificate *certificate.Pair // nil: without TLS
	Grants      grants.Options    // what runs may do
	Runs        runs.Options      // how they are run
	Grace       time.Duration     // how long runs may go on when the service ends
	Edit        bool              // the page may change the cascade files of the grants
}

// Service is an API that listens. It must be closed.
type Service struct {
	options  Options
	grants   *grants.Grants
	host     *runs.Host
	listener net.Listener
	loopback bool
	made     *token.Made // nil: a person gave the token
	page     *page.Page
	api      *server.Server
	watcher  *runs.Watcher
}

// Open listens; requests wait until [Service.Serve]. Its errors are of this package, or of grants.
func Open(ctx context.Context, o Options) (*Service, error) {
	g, err := grants.Open(o.Grants)
	if err != nil {
		return nil, err
	}
	s := &Service{options: o, grants: g, host: runs.New(o.App, g, o.Runs)}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Service) open(ctx context.Context) error {
	var err error
	if s.listener, s.loopback, err = listen(ctx, s.options.Listen); err != nil {
		return failure.New(failure.InvalidRequest, &ListenError{err}, "")
	}
	text := s.options.Token
	if text == "" {
		if s.made, err = token.Make(ctx, token.Folder(s.options.App.Home()), s.listener.Addr().String()); err != nil {
			return failure.New(failure.StorageFailed, &TokenError{failure.Cause{Err: err}}, "")
		}
		text = s.made.Text
	}
	environment.Keep(token.Variable, text) // no run shows it
	home := s.options.App.Home()
	secrets, err := core.SecretsOf(s.options.App, s.options.Grants.AllowEnv)
	if err != nil {
		return err
	}
	desk := waits.Desk{Home: home, Secrets: secrets}
	s.watcher = runs.NewWatcher(s.host, desk)
	keep := func(l audit.Line) error { return audit.Add(context.WithoutCancel(ctx), home, l) }
	s.page, err = page.New(page.Options{
		Desk: page.OfHome(desk, s.watcher.Look), Artifacts: page.ArtifactsOf(s.host.Archive()), By: page.SystemUser(), Audit: keep, Log: s.options.Runs.Log,
		Screens: []page.Screens{
			overview.New(overview.Options{Archive: s.host.Archive(), Grants: desk}),
			authoring.New(authoring.Options{Grants: s.grants, Runs: s.host, Edit: s.options.Edit && s.loopback}),
			web.Screens(),
			inspector.New(inspector.Options{
				Archive: s.host.Archive(), Runs: control{s.host}, Price: s.options.App.Price, Selections: &selections{app: s.options.App}, Patience: 400 * time.Millisecond,
			}),
		},
	})
	if err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	s.api, err = server.New(s.host, server.Reading{Archive: s.host.Archive()}, &people.Desk{Waits: desk, Ready: s.watcher.Look}, server.Options{
		Token: text, Issued: token.NewBook(token.Folder(home)), Loopback: s.loopback, Log: s.options.Runs.Log, Page: s.page,
		Audit: keep,
	})
	return err
}

func listen(ctx context.Context, address string) (net.Listener, bool, error) {
	var c net.ListenConfig
	ln, err := c.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, false, err
	}
	addr, ok := ln.Addr().(*net.TCPAddr)
	return server.Limit(ln), ok && addr.IP.IsLoopback(), nil
}

// Close ends what the service has open after Serve, and removes the token that it made.
func (s *Service) Close() error {
	var errs []error
	if s.made != nil {
		errs = append(errs, s.made.Remove())
	}
	if s.listener != nil {
		if err := s.listener.Close(); !errors.Is(err, net.ErrClosed) { // by Serve
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, s.grants.Close())...)
}

// Addr returns where the service listens.
func (s *Service) Addr() net.Addr { return s.listener.Addr() }

// Loopback reports whether only this machine can reach the service.
func (s *Service) Loopback() bool { return s.loopback }

// Page returns the path of an address that opens the page once.
func (s *Service) Page() string { return s.page.Enter() }

// TokenFile returns the file with the token that the service made; "" when a person gave one.
func (s *Service) TokenFile() string {
	if s.made == nil {
		return ""
	}
	return s.made.File
}

// Running returns how many runs are going on.
func (s *Service) Running() int { return s.host.Running() }

const closeTime = 5 * time.Second

// Serve answers until ctx ends, and then ends runs, their streams, and the rest, in this order.
func (s *Service) Serve(ctx context.Context) error {
	srv := s.api.HTTP()
	failed := make(chan error, 1)
	go func() { failed <- s.answer(srv) }()
	stopWatching := s.watch(ctx)
	var serveErr error
	select {
	case <-ctx.Done():
	case serveErr = <-failed:
	}
	stopWatching()
	interrupted := s.host.Stop(s.options.Grace)
	s.api.EndStreams()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if err := srv.Shutdown(end); err != nil {
		_ = srv.Close() // what is still open is cut off
	}
	switch {
	case len(interrupted) > 0:
		return failure.New(failure.Interrupted, &InterruptedError{interrupted}, "")
	case serveErr != nil && !errors.Is(serveErr, http.ErrServerClosed):
		return fmt.Errorf("serve: %w", serveErr)
	}
	return nil
}

// watch has the watcher resume what waits, and returns what ends that.
func (s *Service) watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	tick := time.NewTicker(runs.WatchEvery)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.watcher.Watch(ctx, tick.C)
	}()
	s.watcher.Look() // an answer may have come while no server was there
	return func() {
		cancel()
		tick.Stop()
		<-done
	}
}

// answer answers requests, with TLS when there is a certificate; HTTP/2 comes with it.
func (s *Service) answer(srv *http.Server) error {
	if s.options.Certificate == nil {
		return srv.Serve(s.listener)
	}
	srv.TLSConfig = s.options.Certificate.Config()
	return srv.ServeTLS(s.listener, "", "")
}

// ListenError says that the address cannot be listened on.
type ListenError struct{ Err error }

func (e *ListenError) Error() string { return "listen: " + e.Err.Error() }
func (e *ListenError) Unwrap() error { return e.Err }

// TokenError says that there can be no token of the owner's own, see [*token.FileError].
type TokenError struct{ failure.Cause }

// InterruptedError says which sessions the end of the service interrupted. They can be resumed.
type InterruptedError struct{ Sessions []string }

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("interrupted %s: %s", quantity.Of(len(e.Sessions), "run"), strings.Join(e.Sessions, ", "))
}
