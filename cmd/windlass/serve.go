package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/server"
)

// serveOptions are the flags of windlass serve.
type serveOptions struct {
	listen        string
	tokenFile     string
	roots         []string
	allowEnv      []string
	allowCommands bool
	allowHTTP     bool
	offline       bool
	noClickHouse  bool
	maxRuns       int
	grace         time.Duration
	budget        budgetOverride
}

// envToken names the variable with the token that clients have to show.
const envToken = "WINDLASS_SERVE_TOKEN"

func newServeCommand(a *app) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Offer runs and their records over HTTP",
		Long: `Offer runs and their records over HTTP, on this machine only unless --listen says otherwise. docs/serve.md describes the
API, and GET /api/openapi.json does for programs.

A run over the API has the rights that these flags grant, and no others; --max-usd, --max-tokens and --max-seconds are the
most that each run may take, whatever its cascade or the request says. Elsewhere than on loopback every request needs
a token, from WINDLASS_SERVE_TOKEN or --token-file.

The first Ctrl-C ends it cleanly: no new runs; those that are going on have --grace to finish and are then interrupted.
Exit codes: 0 every run had ended; 2 wrong usage; 6 storage is not available; 130 runs were interrupted.`,
		Example: `  windlass serve --root cascades
  windlass serve --root cascades --listen 127.0.0.1:9000 --max-runs 2
  windlass serve --root cascades --max-usd 0.50
  windlass serve --root /srv/cascades --listen 0.0.0.0:8765 --token-file /run/secrets/windlass`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:8765", "the `ADDRESS` to listen on; elsewhere than on loopback a token is needed")
	f.StringVar(&o.tokenFile, "token-file", "", "a `FILE` with the token that clients have to show (or "+envToken+")")
	f.StringArrayVar(&o.roots, "root", nil, "a `FOLDER` whose cascades may be run and whose files tools may use (repeatable; default: none)")
	f.StringArrayVar(&o.allowEnv, "allow-env", nil, "an environment variable `NAME` that templates and tools may see (repeatable)")
	f.BoolVar(&o.allowCommands, "allow-commands", false, "let cascades and models run any command")
	f.BoolVar(&o.allowHTTP, "allow-http", false, "let cascades declare tools that send requests over HTTP")
	f.BoolVar(&o.offline, "offline", false, "answer from the scripts beside the cascades instead of a model")
	f.BoolVar(&o.noClickHouse, "no-clickhouse", false, "keep journals only")
	f.IntVar(&o.maxRuns, "max-runs", 8, "how many runs may go on at once")
	o.budget.flags(cmd)
	f.DurationVar(&o.grace, "grace", 10*time.Second, "how long runs may go on after Ctrl-C before they are interrupted")
	return cmd
}

// serve checks what it is to offer, listens, and answers until it is interrupted.
func (a *app) serve(ctx context.Context, o serveOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	home, err := serveHome()
	if err != nil {
		return err
	}
	token, err := readToken(o.tokenFile)
	if err != nil {
		return err
	}
	roots, err := openRoots(o.roots)
	if err != nil {
		return err
	}
	defer closeRoots(roots) //nolint:errcheck // only read from
	ln, loopback, err := listen(ctx, o.listen, token)
	if err != nil {
		return err
	}
	defer ln.Close() //nolint:errcheck // closed already when it has served
	defer surviveClosedPipes()()
	l := log.New(a.err, "", log.LstdFlags|log.LUTC)
	g := grants{roots: roots, allowEnv: o.allowEnv, allowCommands: o.allowCommands, allowHTTP: o.allowHTTP, offline: o.offline, budget: o.budget}
	h := newHost(home, g, o.maxRuns, o.noClickHouse, l)
	rec := newServed(&app{out: a.out, err: l.Writer()}, h)
	h.find = rec.find
	api, err := server.New(h, rec, server.Options{Token: token, Loopback: loopback, Log: l})
	if err != nil {
		return err
	}
	l.Printf("listening on http://%s/api: %s", ln.Addr(), o.summary(token))
	return a.answer(ctx, ln, api, h, o.grace)
}

func (o serveOptions) check() error {
	switch {
	case o.maxRuns < 1:
		return usageError(fmt.Errorf("--max-runs %d: at least one run must be possible", o.maxRuns), "--max-runs 8")
	case o.grace < 0:
		return usageError(fmt.Errorf("--grace %s is below zero", o.grace), "--grace 10s")
	}
	return nil
}

// summary says in one line what the server grants.
func (o serveOptions) summary(token string) string {
	parts := []string{"no folder", "no token", fmt.Sprintf("up to %s", plural(o.maxRuns, "run"))}
	if len(o.roots) > 0 {
		parts[0] = strings.Join(o.roots, ", ")
	}
	if token != "" {
		parts[1] = "with a token"
	}
	if o.allowCommands {
		parts = append(parts, "commands")
	}
	if o.allowHTTP {
		parts = append(parts, "HTTP tools")
	}
	if o.offline {
		parts = append(parts, "offline")
	}
	return strings.Join(parts, "; ")
}

// serveHome returns the home folder, after looking at what every run would meet first.
func serveHome() (string, error) {
	home, err := config.Home()
	if err != nil {
		return "", withExit(exitStorage, err, "set WINDLASS_HOME to a folder")
	}
	if _, err := config.Open(".", home); err != nil {
		return "", usageError(err, "correct the file; docs/models.md describes it")
	}
	return home, nil
}

// minToken is how many characters a token has at least: fewer can be tried out.
const minToken = 16

// readToken returns the token that clients have to show, "" when there is none. The variable is taken out of the
// environment, so that no tool of a run inherits it.
func readToken(file string) (string, error) {
	token, from := os.Getenv(envToken), envToken
	if err := os.Unsetenv(envToken); err != nil {
		return "", fmt.Errorf("take %s out of the environment: %w", envToken, err)
	}
	if file != "" {
		if token != "" {
			return "", usageError(fmt.Errorf("--token-file and %s exclude each other", envToken), "one of them")
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return "", usageError(fmt.Errorf("read --token-file: %w", err), "--token-file FILE with the token in it")
		}
		token, from = string(data), "--token-file "+file
	} else if token == "" {
		return "", nil
	}
	token = strings.TrimSpace(token)
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", usageError(fmt.Errorf("%s: a token is one word of at least %d letters, digits and signs", from, minToken), "openssl rand -hex 32")
	}
	return token, nil
}

// listen opens the listener and says whether only this machine can reach it.
func listen(ctx context.Context, address, token string) (net.Listener, bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, false, usageError(fmt.Errorf("--listen %q: expected HOST:PORT", address), "--listen 127.0.0.1:8765")
	}
	if token == "" && !isLoopbackHost(ctx, host) {
		return nil, false, usageError(fmt.Errorf("--listen %s can be reached from other machines, which needs a token", address),
			"set "+envToken+" or --token-file FILE (openssl rand -hex 32 makes one), or --listen 127.0.0.1:8765")
	}
	var c net.ListenConfig
	ln, err := c.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, false, usageError(fmt.Errorf("listen: %w", err), "--listen with an address of this machine and a port that is free; port 0 is any")
	}
	addr, ok := ln.Addr().(*net.TCPAddr)
	loopback := ok && addr.IP.IsLoopback()
	if token == "" && !loopback { // the name led elsewhere the second time
		return nil, false, errors.Join(usageError(fmt.Errorf("--listen %s led to %s, which needs a token", address, ln.Addr()), "--listen 127.0.0.1:8765"), ln.Close())
	}
	return ln, loopback, nil
}

// isLoopbackHost reports whether all addresses of a host are this machine's own.
func isLoopbackHost(ctx context.Context, host string) bool {
	if host == "" {
		return false
	}
	addresses, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil || len(addresses) == 0 {
		return false
	}
	for _, a := range addresses {
		if !a.IP.IsLoopback() {
			return false
		}
	}
	return true
}

// closeTime is how long requests that are under way may take after the last run has ended.
const closeTime = 5 * time.Second

// answer serves until ctx ends or the first signal comes, and then ends in an order in which nobody is cut off who can
// still be served: first runs, then the streams that tell of their ends, then everything.
func (a *app) answer(ctx context.Context, ln net.Listener, api *server.Server, h *host, grace time.Duration) error {
	ctx, stop := onInterrupt(ctx, func() {
		h.log.Print("stopping: no new runs" + lastChance(h.count(), grace))
	})
	defer stop()
	srv := api.HTTP()
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
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
