// Package serveflags makes a server of the flags of windlass serve: it checks them, reads what they name, and says what the
// server grants and, in the words of flags, what is wrong.
package serveflags

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/server/certificate"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/runs"
	"github.com/windlass-run/windlass/internal/server/serve"
	"github.com/windlass-run/windlass/internal/term"
)

// Options are the flags.
type Options struct {
	Listen    string
	TokenFile string
	TLSCert   string
	TLSKey    string
	Grants    grants.Options
	Runs      runs.Options  // with the log of the server
	Grace     time.Duration // how long runs may continue after the end
	Edit      bool          // the page may change the cascade files below the roots
}

// EditFlag declares the flag by which a person lets the page of their own machine change files, which is for the folder that they are in.
func (o *Options) EditFlag(f *pflag.FlagSet) {
	f.BoolVar(&o.Edit, "edit", false, "let the page save cascade files below the roots; on this machine only")
	if root := f.Lookup("root"); root != nil {
		root.Usage = strings.Replace(root.Usage, "default: none", "default: the folder that you are in", 1)
	}
}

// Check says what is wrong with the flags.
func (o *Options) Check() error {
	switch {
	case o.Runs.Most < 1:
		return exit.UsageError(fmt.Errorf("--max-runs %d: at least one run must be possible", o.Runs.Most), "--max-runs 8")
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return exit.UsageError(errors.New("--tls-cert and --tls-key belong together, and only one of them is given"), "--tls-cert FILE --tls-key FILE, or neither")
	case o.Grace < 0:
		return exit.UsageError(fmt.Errorf("--grace %s is below zero", o.Grace), "--grace 10s")
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return exit.UsageError(fmt.Errorf("--listen %q: expected HOST:PORT", o.Listen), "--listen 127.0.0.1:8765")
	}
	if ip := net.ParseIP(host); o.Edit && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return exit.UsageError(fmt.Errorf("--edit lets the page change files, and --listen %s can be reached from other machines", o.Listen), "--edit with --listen 127.0.0.1:8766")
	}
	return nil
}

// Server is a server that listens. It must be closed.
type Server struct {
	service     *serve.Service
	options     *Options
	certificate *certificate.Pair // nil without TLS
	given       string            // where the token is from; "" when the server has made it
}

// Open reads the certificate and the token, and listens; requests wait until [Server.Serve].
func (o *Options) Open(ctx context.Context, opened *app.App) (*Server, error) {
	cert, err := o.certificate()
	if err != nil {
		return nil, err
	}
	token, given, err := givenToken(o.TokenFile, o.Runs.Log)
	if err != nil {
		return nil, err
	}
	s, err := serve.Open(ctx, serve.Options{
		App: opened, Listen: o.Listen, Token: token, Certificate: cert, Grants: o.Grants, Runs: o.Runs, Grace: o.Grace, Edit: o.Edit,
	})
	if err != nil {
		return nil, serveError(err)
	}
	return &Server{service: s, options: o, certificate: cert, given: given}, nil
}

// Close ends what the server has open after Serve, and removes the token that it made.
func (s *Server) Close() error { return s.service.Close() }

// Announce logs where the server listens, what it grants, and where its token is, never the token.
func (s *Server) Announce() {
	l := s.options.Runs.Log
	scheme := "http"
	if s.certificate != nil {
		scheme = "https"
	}
	l.Printf("listening on %s://%s/api: %s", scheme, s.service.Addr(), s.options.summary(cmp.Or(s.service.TokenFile(), s.given)))
	l.Printf("page: %s://%s%s opens the page once, within 10 minutes; windlass serve token --page prints another address", scheme, s.service.Addr(), s.service.Page())
	switch {
	case s.certificate != nil:
		l.Printf("the certificate is valid until %s", s.certificate.Until().UTC().Format(time.RFC3339))
	case !s.service.Loopback():
		l.Print("warning: without --tls-cert and --tls-key the token and all that is asked and answered cross the network unencrypted; docs/serve.md says what a proxy in front has to do")
	}
}

// SayStopping logs what becomes of the runs that are going on, now that the server is to end.
func (s *Server) SayStopping() {
	s.options.Runs.Log.Print("stopping: no new runs" + lastChance(s.service.Running(), s.options.Grace))
}

// Serve answers until ctx ends, and then ends runs, their streams, and the rest, in this order.
func (s *Server) Serve(ctx context.Context) error {
	if err := s.service.Serve(ctx); err != nil {
		return serveError(err)
	}
	s.options.Runs.Log.Print("stopped")
	return nil
}

// certificate reads what --tls-cert and --tls-key name; nil without them.
func (o *Options) certificate() (*certificate.Pair, error) {
	if o.TLSCert == "" {
		return nil, nil //nolint:nilnil // no certificate is one of the ways to serve
	}
	cert, err := certificate.Load(o.TLSCert, o.TLSKey, func(text string) { o.Runs.Log.Print(term.OneLine(text)) })
	if err != nil {
		return nil, exit.UsageError(fmt.Errorf("--tls-cert: %w", err), "--tls-cert FILE --tls-key FILE with a certificate that is valid now, and its key")
	}
	return cert, nil
}

// summary says in one line what the server grants.
func (o *Options) summary(token string) string {
	parts := []string{"no folder", "token: " + token, fmt.Sprintf("up to %s", term.Plural(o.Runs.Most, "run"))}
	if len(o.Grants.Roots) > 0 {
		parts[0] = strings.Join(o.Grants.Roots, ", ")
	}
	if o.Grants.AllowCommands {
		parts = append(parts, "commands")
	}
	if len(o.Grants.AllowWrite) > 0 {
		parts = append(parts, "writes "+strings.Join(o.Grants.AllowWrite, ", "))
	}
	if o.Grants.AllowHTTP {
		parts = append(parts, "HTTP tools")
	}
	if o.Edit {
		parts = append(parts, "edits cascades")
	}
	if o.Grants.Offline {
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
