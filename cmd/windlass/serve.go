package main

import (
	"context"
	"log"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/commandline/limitflags"
	"github.com/windlass-run/windlass/internal/commandline/serveflags"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/term"
)

func newServeCommand(con *console) *cobra.Command {
	var o serveflags.Options
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
		RunE: func(cmd *cobra.Command, _ []string) error { return runServer(cmd.Context(), con, &o) },
	}
	serverFlags(con, cmd, &o, "127.0.0.1:8765")
	cmd.AddCommand(newServeTokenCommand(con))
	return cmd
}

// serverFlags are the flags of a server.
func serverFlags(con *console, cmd *cobra.Command, o *serveflags.Options, listen string) {
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", listen, "the `ADDRESS` to listen on")
	tokenFlag(cmd, &o.TokenFile)
	f.StringVar(&o.TLSCert, "tls-cert", "", "a `FILE` with a certificate (PEM): the server uses TLS; it is read again when it changes")
	f.StringVar(&o.TLSKey, "tls-key", "", "the `FILE` with the key of --tls-cert (PEM), which other users must not be able to read")
	f.StringArrayVar(&o.Grants.Roots, "root", nil, "a `FOLDER` whose cascades may be run and whose files tools may use (repeatable; default: none)")
	f.StringArrayVar(&o.Grants.AllowEnv, "allow-env", nil, "an environment variable `NAME` that templates and tools may see (repeatable)")
	f.BoolVar(&o.Grants.AllowCommands, "allow-commands", false, "let cascades and models run any command")
	allowWriteFlag(cmd, &o.Grants.AllowWrite)
	f.BoolVar(&o.Grants.AllowHTTP, "allow-http", false, "let cascades declare tools that send requests over HTTP")
	f.BoolVar(&o.Grants.Offline, "offline", false, "answer from the scripts beside the cascades instead of a model")
	f.BoolVar(&o.Runs.NoClickHouse, "no-clickhouse", false, "keep journals only")
	f.IntVar(&o.Runs.Most, "max-runs", 8, "how many runs may be active at once")
	con.noFetchFlag(cmd, fetch.PolicyAnnounce)
	limitflags.Add(cmd.Flags(), &o.Grants.Limits)
	f.DurationVar(&o.Grace, "grace", 10*time.Second, "how long runs may continue after Ctrl-C before they are interrupted")
}

// runServer checks what it is to offer, listens, and answers until it is interrupted.
func runServer(ctx context.Context, con *console, o *serveflags.Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	if err := checkAllowWrite(o.Grants.AllowWrite); err != nil {
		return err
	}
	if _, err := con.config(); err != nil { // every run would fail of it
		return err
	}
	if con.downloads == fetch.PolicyNone && !o.Runs.NoClickHouse {
		if err := con.app.AllowEngine(ctx); err != nil {
			return err
		}
	}
	o.Runs.Log, o.Runs.Fetching = log.New(con.err, "", log.LstdFlags|log.LUTC), con.fetching
	s, err := o.Open(ctx, con.app)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // nothing of it is worth anything to the next server
	term.SurviveClosedPipes()
	s.Announce()
	ctx, stop := interruptible(ctx, s.SayStopping)
	defer stop()
	return s.Serve(ctx)
}
