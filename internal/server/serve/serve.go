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
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/certificate"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/runs"
	"github.com/windlass-run/windlass/internal/server/token"
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
}

// Service is an API that listens. It must be closed.
type Service struct {
	options  Options
	grants   *grants.Grants
	host     *runs.Host
	listener net.Listener
	loopback bool
	made     *token.Made // nil: a person gave the token
	api      *server.Server
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
	s.api, err = server.New(s.host, server.Reading{Archive: s.host.Archive()}, server.Options{
		Token: text, Loopback: s.loopback, Log: s.options.Runs.Log,
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
	var serveErr error
	select {
	case <-ctx.Done():
	case serveErr = <-failed:
	}
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
