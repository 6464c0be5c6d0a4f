package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/server/certificate"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/runs"
	"github.com/windlass-run/windlass/internal/server/serve"
	"github.com/windlass-run/windlass/internal/term"
)

// serveOptions are the flags of windlass serve.
type serveOptions struct {
	listen    string
	tokenFile string
	tlsCert   string
	tlsKey    string
	grants    grants.Options
	runs      runs.Options
	grace     time.Duration
}

func newServeCommand(con *console) *cobra.Command {
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

The first Ctrl-C ends it cleanly: no new run starts; running ones have --grace to finish and are then interrupted.
Exit codes: 0 every run had ended; 2 wrong usage; 6 storage is not available; 130 runs were interrupted.`,
		Example: `  windlass serve --root cascades
  windlass serve --root cascades --listen 127.0.0.1:9000 --max-runs 2
  windlass serve --root cascades --max-usd 0.50
  windlass serve token --header | curl -sS -H @- http://127.0.0.1:8765/api/sessions
  windlass serve --root /srv/cascades --listen 0.0.0.0:8765 --token-file /run/secrets/windlass --tls-cert cert.pem --tls-key key.pem`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServer(cmd.Context(), con, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:8765", "the `ADDRESS` to listen on")
	tokenFlag(cmd, &o.tokenFile)
	f.StringVar(&o.tlsCert, "tls-cert", "", "a `FILE` with a certificate (PEM): the server uses TLS; it is read again when it changes")
	f.StringVar(&o.tlsKey, "tls-key", "", "the `FILE` with the key of --tls-cert (PEM), which other users must not be able to read")
	f.StringArrayVar(&o.grants.Roots, "root", nil, "a `FOLDER` whose cascades may be run and whose files tools may use (repeatable; default: none)")
	f.StringArrayVar(&o.grants.AllowEnv, "allow-env", nil, "an environment variable `NAME` that templates and tools may see (repeatable)")
	f.BoolVar(&o.grants.AllowCommands, "allow-commands", false, "let cascades and models run any command")
	allowWriteFlag(cmd, &o.grants.AllowWrite)
	f.BoolVar(&o.grants.AllowHTTP, "allow-http", false, "let cascades declare tools that send requests over HTTP")
	f.BoolVar(&o.grants.Offline, "offline", false, "answer from the scripts beside the cascades instead of a model")
	f.BoolVar(&o.runs.NoClickHouse, "no-clickhouse", false, "keep journals only")
	f.IntVar(&o.runs.Most, "max-runs", 8, "how many runs may be active at once")
	con.noFetchFlag(cmd, fetch.PolicyAnnounce)
	limitFlags(cmd, &o.grants.Limits)
	f.DurationVar(&o.grace, "grace", 10*time.Second, "how long runs may continue after Ctrl-C before they are interrupted")
	cmd.AddCommand(newServeTokenCommand(con))
	return cmd
}

// runServer checks what it is to offer, listens, and answers until it is interrupted.
func runServer(ctx context.Context, con *console, o serveOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if _, err := con.config(); err != nil { // every run would fail of it
		return err
	}
	if con.downloads == fetch.PolicyNone && !o.runs.NoClickHouse {
		if err := con.app.AllowEngine(ctx); err != nil {
			return err
		}
	}
	l := log.New(con.err, "", log.LstdFlags|log.LUTC)
	cert, err := o.certificate(l)
	if err != nil {
		return err
	}
	token, from, err := givenToken(o.tokenFile, l)
	if err != nil {
		return err
	}
	o.runs.Log, o.runs.Fetching = l, con.fetching
	s, err := serve.Open(ctx, serve.Options{
		App: con.app, Listen: o.listen, Token: token, Certificate: cert, Grants: o.grants, Runs: o.runs, Grace: o.grace,
	})
	if err != nil {
		return serveError(err)
	}
	defer s.Close() //nolint:errcheck // nothing of it is worth anything to the next server
	term.SurviveClosedPipes()
	o.announce(l, s, cert, cmp.Or(s.TokenFile(), from))
	ctx, stop := interruptible(ctx, func() { l.Print("stopping: no new runs" + lastChance(s.Running(), o.grace)) })
	defer stop()
	if err := s.Serve(ctx); err != nil {
		return serveError(err)
	}
	l.Print("stopped")
	return nil
}

func (o serveOptions) check() error {
	switch {
	case o.runs.Most < 1:
		return exit.UsageError(fmt.Errorf("--max-runs %d: at least one run must be possible", o.runs.Most), "--max-runs 8")
	case (o.tlsCert == "") != (o.tlsKey == ""):
		return exit.UsageError(errors.New("--tls-cert and --tls-key belong together, and only one of them is given"), "--tls-cert FILE --tls-key FILE, or neither")
	case o.grace < 0:
		return exit.UsageError(fmt.Errorf("--grace %s is below zero", o.grace), "--grace 10s")
	}
	if _, _, err := net.SplitHostPort(o.listen); err != nil {
		return exit.UsageError(fmt.Errorf("--listen %q: expected HOST:PORT", o.listen), "--listen 127.0.0.1:8765")
	}
	return checkAllowWrite(o.grants.AllowWrite)
}

// certificate reads what --tls-cert and --tls-key name; nil without them.
func (o serveOptions) certificate(l *log.Logger) (*certificate.Pair, error) {
	if o.tlsCert == "" {
		return nil, nil //nolint:nilnil // no certificate is one of the ways to serve
	}
	cert, err := certificate.Load(o.tlsCert, o.tlsKey, func(text string) { l.Print(term.OneLine(text)) })
	if err != nil {
		return nil, exit.UsageError(fmt.Errorf("--tls-cert: %w", err), "--tls-cert FILE --tls-key FILE with a certificate that is valid now, and its key")
	}
	return cert, nil
}

// announce logs where the server listens, what it grants, and where its token is, never the token.
func (o serveOptions) announce(l *log.Logger, s *serve.Service, cert *certificate.Pair, token string) {
	scheme := "http"
	if cert != nil {
		scheme = "https"
	}
	l.Printf("listening on %s://%s/api: %s", scheme, s.Addr(), o.summary(token))
	switch {
	case cert != nil:
		l.Printf("the certificate is valid until %s", cert.Until().UTC().Format(time.RFC3339))
	case !s.Loopback():
		l.Print("warning: without --tls-cert and --tls-key the token and all that is asked and answered cross the network unencrypted; docs/serve.md says what a proxy in front has to do")
	}
}

// summary says in one line what the server grants.
func (o serveOptions) summary(token string) string {
	parts := []string{"no folder", "token: " + token, fmt.Sprintf("up to %s", term.Plural(o.runs.Most, "run"))}
	if len(o.grants.Roots) > 0 {
		parts[0] = strings.Join(o.grants.Roots, ", ")
	}
	if o.grants.AllowCommands {
		parts = append(parts, "commands")
	}
	if len(o.grants.AllowWrite) > 0 {
		parts = append(parts, "writes "+strings.Join(o.grants.AllowWrite, ", "))
	}
	if o.grants.AllowHTTP {
		parts = append(parts, "HTTP tools")
	}
	if o.grants.Offline {
		parts = append(parts, "offline")
	}
	return strings.Join(parts, "; ")
}

// serveError says in flags why nothing is served, or what the end of the server interrupted.
func serveError(err error) error {
	var root *grants.RootError
	var address *serve.ListenError
	var token *serve.TokenError
	var cut *serve.InterruptedError
	switch {
	case errors.As(err, &root):
		return exit.UsageError(fmt.Errorf("open the folder of --root %s: %w", root.Path, root.Err), "--root FOLDER with a folder that exists")
	case errors.As(err, &address):
		return exit.UsageError(address, "--listen with an address of this machine and a port that is free; port 0 is any")
	case errors.As(err, &token):
		return tokenProblem(token.Err)
	case errors.As(err, &cut):
		return exit.With(exit.Interrupted, err, commandline.Self()+" resume "+cut.Sessions[0]+", or POST /api/sessions/"+cut.Sessions[0]+"/resume")
	}
	return err
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
