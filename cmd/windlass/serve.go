package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/certificate"
	"github.com/windlass-run/windlass/internal/vault"
)

// serveOptions are the flags of windlass serve.
type serveOptions struct {
	listen        string
	tokenFile     string
	tlsCert       string
	tlsKey        string
	roots         []string
	allowEnv      []string
	allowWrite    []string
	allowCommands bool
	allowHTTP     bool
	offline       bool
	noClickHouse  bool
	maxRuns       int
	grace         time.Duration
	budget        core.Limits
}

func newServeCommand(a *app) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Offer runs and their records over HTTP",
		Long: `Offer runs and their records over HTTP, on this machine only unless --listen says otherwise. docs/serve.md describes the
API, and GET /api/openapi.json does for programs.

A run over the API has the rights that these flags grant, and no others; --max-usd, --max-tokens and --max-seconds are the
most that each run may take, whatever its cascade or the request says. Every request needs a token, on loopback too: that of
WINDLASS_SERVE_TOKEN or --token-file, or else one that is made at each start, in a file that only you can read. "windlass
serve token" prints it.

The first Ctrl-C ends it cleanly: no new runs; those that are going on have --grace to finish and are then interrupted.
Exit codes: 0 every run had ended; 2 wrong usage; 6 storage is not available; 130 runs were interrupted.`,
		Example: `  windlass serve --root cascades
  windlass serve --root cascades --listen 127.0.0.1:9000 --max-runs 2
  windlass serve --root cascades --max-usd 0.50
  windlass serve token --header | curl -sS -H @- http://127.0.0.1:8765/api/sessions
  windlass serve --root /srv/cascades --listen 0.0.0.0:8765 --token-file /run/secrets/windlass --tls-cert cert.pem --tls-key key.pem`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:8765", "the `ADDRESS` to listen on")
	tokenFlag(cmd, &o.tokenFile)
	f.StringVar(&o.tlsCert, "tls-cert", "", "a `FILE` with a certificate (PEM): the server speaks TLS; read anew when it changes")
	f.StringVar(&o.tlsKey, "tls-key", "", "the `FILE` with the key of --tls-cert (PEM), which other users must not be able to read")
	f.StringArrayVar(&o.roots, "root", nil, "a `FOLDER` whose cascades may be run and whose files tools may use (repeatable; default: none)")
	f.StringArrayVar(&o.allowEnv, "allow-env", nil, "an environment variable `NAME` that templates and tools may see (repeatable)")
	f.BoolVar(&o.allowCommands, "allow-commands", false, "let cascades and models run any command")
	allowWriteFlag(cmd, &o.allowWrite)
	f.BoolVar(&o.allowHTTP, "allow-http", false, "let cascades declare tools that send requests over HTTP")
	f.BoolVar(&o.offline, "offline", false, "answer from the scripts beside the cascades instead of a model")
	f.BoolVar(&o.noClickHouse, "no-clickhouse", false, "keep journals only")
	f.IntVar(&o.maxRuns, "max-runs", 8, "how many runs may go on at once")
	limitFlags(cmd, &o.budget)
	f.DurationVar(&o.grace, "grace", 10*time.Second, "how long runs may go on after Ctrl-C before they are interrupted")
	cmd.AddCommand(newServeTokenCommand(a))
	return cmd
}

// serve checks what it is to offer, listens, and answers until it is interrupted.
func (a *app) serve(ctx context.Context, o serveOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	runs, err := serveRuns()
	if err != nil {
		return err
	}
	defer runs.Close() //nolint:errcheck // only read from when the runs have ended
	l := log.New(a.err, "", log.LstdFlags|log.LUTC)
	cert, err := o.certificate(l)
	if err != nil {
		return err
	}
	roots, err := openRoots(o.roots)
	if err != nil {
		return err
	}
	defer closeRoots(roots) //nolint:errcheck // only read from
	token, err := givenToken(o.tokenFile, l)
	if err != nil {
		return err
	}
	ln, loopback, err := listen(ctx, o.listen)
	if err != nil {
		return err
	}
	defer ln.Close() //nolint:errcheck // closed already when it has served
	token, removeToken, err := keepToken(ctx, token, runs.Home(), ln.Addr())
	if err != nil {
		return err
	}
	defer removeToken() //nolint:errcheck // it is worth nothing to the next server
	defer surviveClosedPipes()()
	g := grants{roots: roots, allowEnv: o.allowEnv, allowCommands: o.allowCommands, allowWrite: o.allowWrite, allowHTTP: o.allowHTTP, offline: o.offline, budget: o.budget}
	h := newHost(runs, g, o.maxRuns, o.noClickHouse, l)
	arc := servedArchive(h)
	h.find = arc.Find
	vault.Keep(envToken, token.text) // no run shows it
	api, err := server.New(h, server.Reading{Archive: arc}, server.Options{Token: token.text, Loopback: loopback, Log: l})
	if err != nil {
		return err
	}
	o.announce(l, ln.Addr(), loopback, cert, token)
	return a.answer(ctx, ln, api, cert, h, o.grace)
}

func (o serveOptions) check() error {
	switch {
	case o.maxRuns < 1:
		return usageError(fmt.Errorf("--max-runs %d: at least one run must be possible", o.maxRuns), "--max-runs 8")
	case (o.tlsCert == "") != (o.tlsKey == ""):
		return usageError(errors.New("--tls-cert and --tls-key belong together, and only one of them is given"), "--tls-cert FILE --tls-key FILE, or neither")
	case o.grace < 0:
		return usageError(fmt.Errorf("--grace %s is below zero", o.grace), "--grace 10s")
	}
	return checkAllowWrite(o.allowWrite)
}

// certificate reads what --tls-cert and --tls-key name; nil without them.
func (o serveOptions) certificate(l *log.Logger) (*certificate.Pair, error) {
	if o.tlsCert == "" {
		return nil, nil //nolint:nilnil // no certificate is one of the ways to serve
	}
	cert, err := certificate.Load(o.tlsCert, o.tlsKey, func(text string) { l.Print(oneLine(text)) })
	if err != nil {
		return nil, usageError(fmt.Errorf("--tls-cert: %w", err), "--tls-cert FILE --tls-key FILE with a certificate that is valid now, and its key")
	}
	return cert, nil
}

// announce says where the server listens, what it grants, and where its token is: never the token itself.
func (o serveOptions) announce(l *log.Logger, at net.Addr, loopback bool, cert *certificate.Pair, token serveToken) {
	scheme := "http"
	if cert != nil {
		scheme = "https"
	}
	l.Printf("listening on %s://%s/api: %s", scheme, at, o.summary(token))
	switch {
	case cert != nil:
		l.Printf("the certificate is valid until %s", cert.Until().UTC().Format(time.RFC3339))
	case !loopback:
		l.Print("warning: without --tls-cert and --tls-key the token and all that is asked and answered cross the network unencrypted; docs/serve.md says what a proxy in front has to do")
	}
}

// summary says in one line what the server grants.
func (o serveOptions) summary(token serveToken) string {
	parts := []string{"no folder", "token: " + token.from, fmt.Sprintf("up to %s", plural(o.maxRuns, "run"))}
	if len(o.roots) > 0 {
		parts[0] = strings.Join(o.roots, ", ")
	}
	if o.allowCommands {
		parts = append(parts, "commands")
	}
	if len(o.allowWrite) > 0 {
		parts = append(parts, "writes "+strings.Join(o.allowWrite, ", "))
	}
	if o.allowHTTP {
		parts = append(parts, "HTTP tools")
	}
	if o.offline {
		parts = append(parts, "offline")
	}
	return strings.Join(parts, "; ")
}

// serveRuns opens what runs are started with, after looking at what every run would meet first.
func serveRuns() (*core.App, error) {
	runs, err := openApp()
	if err != nil {
		return nil, err
	}
	_, err = runs.Config()
	return runs, err
}

// listen opens the listener and says whether only this machine can reach it.
func listen(ctx context.Context, address string) (net.Listener, bool, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, false, usageError(fmt.Errorf("--listen %q: expected HOST:PORT", address), "--listen 127.0.0.1:8765")
	}
	var c net.ListenConfig
	ln, err := c.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, false, usageError(fmt.Errorf("listen: %w", err), "--listen with an address of this machine and a port that is free; port 0 is any")
	}
	addr, ok := ln.Addr().(*net.TCPAddr)
	return server.Limit(ln), ok && addr.IP.IsLoopback(), nil
}

// closeTime is how long requests that are under way may take after the last run has ended.
const closeTime = 5 * time.Second

// answer serves until ctx ends or the first signal comes, and then ends in an order in which nobody is cut off who can
// still be served: first runs, then the streams that tell of their ends, then everything.
func (a *app) answer(ctx context.Context, ln net.Listener, api *server.Server, cert *certificate.Pair, h *host, grace time.Duration) error {
	ctx, stop := onInterrupt(ctx, func() {
		h.log.Print("stopping: no new runs" + lastChance(h.count(), grace))
	})
	defer stop()
	srv := api.HTTP()
	failed := make(chan error, 1)
	go func() { failed <- serveOn(srv, ln, cert) }()
	var serveErr error
	select {
	case <-ctx.Done():
	case serveErr = <-failed:
	}
	interrupted := h.stop(grace)
	api.EndStreams()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if err := srv.Shutdown(end); err != nil {
		_ = srv.Close() // what is still open is cut off
	}
	switch {
	case len(interrupted) > 0:
		return withExit(exitInterrupted, fmt.Errorf("interrupted %s: %s", plural(len(interrupted), "run"), strings.Join(interrupted, ", ")),
			selfCommand()+" resume "+interrupted[0]+", or POST /api/sessions/"+interrupted[0]+"/resume")
	case serveErr != nil && !errors.Is(serveErr, http.ErrServerClosed):
		return withExit(exitFailed, fmt.Errorf("serve: %w", serveErr), "")
	}
	h.log.Print("stopped")
	return nil
}

// serveOn answers on a listener, with TLS when there is a certificate; HTTP/2 comes with it.
func serveOn(srv *http.Server, ln net.Listener, cert *certificate.Pair) error {
	if cert == nil {
		return srv.Serve(ln)
	}
	srv.TLSConfig = cert.Config()
	return srv.ServeTLS(ln, "", "")
}

// lastChance says what becomes of the runs that are going on.
func lastChance(runs int, grace time.Duration) string {
	const again = ". Press Ctrl-C again to quit at once."
	switch runs {
	case 0:
		return again
	case 1:
		return fmt.Sprintf("; 1 run has up to %s to finish before it is interrupted", grace) + again
	}
	return fmt.Sprintf("; %d runs have up to %s to finish before they are interrupted", runs, grace) + again
}
