package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/snapshot"
	"github.com/windlass-run/windlass/internal/snapshot/suite"
	"github.com/windlass-run/windlass/internal/term"
)

// freezeOptions are the flags of windlass test freeze.
type freezeOptions struct {
	name    string
	dir     string
	match   []string
	cascade string
	keepEnv []string
	asJSON  bool
}

func newTestFreezeCommand(a *app) *cobra.Command {
	var o freezeOptions
	cmd := &cobra.Command{
		Use:   "freeze SESSION",
		Short: "Make a test of a recorded run",
		Long: `Make a test of a run that has ended: one file, DIR/NAME.test.json, with the answers that its models and tools gave and
what it came to. The folders of this machine and the values of granted variables are replaced in it; what models and
tools answered is not looked at otherwise, so read the file before you share it.

What a test compares: phases, routes, tools (their calls), output, state, and context (what each model call was sent). All but
context unless --match says otherwise.`,
		Example: `  windlass test freeze 01jz4k --name refund
  windlass test freeze 01jz4k --name refund-prompts --match phases,output,context
  windlass test freeze 01jz4k --name refund --dir cascades/tests --cascade cascades/refund.json`,
		Args: oneSession,
		RunE: func(cmd *cobra.Command, args []string) error { return a.freeze(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "the `NAME` of the test")
	f.StringVar(&o.dir, "dir", testsDir, "the `FOLDER` of tests that it is written to")
	f.StringSliceVar(&o.match, "match", nil, "the `ASPECTS` that must match, with commas (default: all but context)")
	f.StringVar(&o.cascade, "cascade", "", "the `FILE` that the test runs (default: the one that the run was begun with)")
	f.StringArrayVar(&o.keepEnv, "keep-env", nil, "keep the value of the granted variable `NAME` in the test (repeatable)")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

// frozen is what "test freeze --json" prints.
type frozen struct {
	File      string            `json:"file"`
	Name      string            `json:"name"`
	SessionID string            `json:"session_id"`
	Cascade   string            `json:"cascade"`
	Match     []snapshot.Aspect `json:"match"`
	Answers   int               `json:"answers"`
}

func (a *app) freeze(ctx context.Context, given string, o freezeOptions) error {
	match, err := readAspects(o.match)
	if err != nil {
		return err
	}
	if !core.IsName(o.name) {
		return usageError(fmt.Errorf("--name %q: use up to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit", o.name),
			"windlass test freeze "+given+" --name refund")
	}
	rec, err := a.endedSession(ctx, given)
	if err != nil {
		return err
	}
	path := filepath.Join(o.dir, o.name+snapshot.Suffix)
	if _, err := os.Lstat(path); err == nil {
		return errTestExists(path)
	}
	c, t, err := a.frozenTest(ctx, rec, path, match, o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil { //nolint:gosec // made to be committed
		return withExit(exitStorage, err, "--dir FOLDER with a folder that you may write to")
	}
	switch err := t.Create(path); {
	case errors.Is(err, os.ErrExist):
		return errTestExists(path)
	case err != nil:
		return withExit(exitStorage, err, "--dir FOLDER with a folder that you may write to")
	}
	a.tellIfDifferent(ctx, t, c)
	if o.asJSON {
		return a.printJSON(frozen{path, t.Name, rec.Header.SessionID, t.Cascade, t.Match, len(t.Answers)})
	}
	fmt.Fprintf(a.out, "Wrote %s: %s of session %s; it compares %s.\n", path, term.Plural(len(t.Answers), "answer"), rec.Header.SessionID, snapshot.Joined(t.Match))
	fmt.Fprintf(a.err, "It holds what models and tools answered: read it before you share it. Run it: windlass test run %s\n", o.dir)
	return nil
}

func errTestExists(path string) error {
	return usageError(fmt.Errorf("there is a test %s already", path), "another --name; or remove the file, if it is to be replaced")
}

// endedSession reads a session of this machine that came to an end of its own.
func (a *app) endedSession(ctx context.Context, given string) (*journal.Recording, error) {
	rec, err := a.readSession(ctx, given)
	if err != nil {
		return nil, err
	}
	id := rec.Header.SessionID
	switch end := record.EndOf(rec.Entries); end.Status {
	case echo.StatusCompleted, echo.StatusFailed:
		return rec, nil
	case echo.StatusRunning:
		return nil, usageError(fmt.Errorf("session %s has not ended: it runs, or its process died. There is nothing to freeze yet", id), "wait for its end; or windlass resume "+id)
	default:
		return nil, usageError(fmt.Errorf("session %s is %s: what it would have come to is not known", id, end.Status), "windlass resume "+id+", and then freeze it")
	}
}

// frozenTest makes the test of a session, and returns the session's own cascade with it.
func (a *app) frozenTest(ctx context.Context, rec *journal.Recording, path string, match []snapshot.Aspect, o freezeOptions) (*cascade.Cascade, *snapshot.Test, error) {
	id := rec.Header.SessionID
	origin, err := core.ReadHeader(rec.Header)
	if err != nil {
		return nil, nil, withExit(exitStorage, err, "freeze the session with the windlass that began it")
	}
	file, err := cascadeOf(rec.Header, origin.Started, path, o.cascade)
	if err != nil {
		return nil, nil, err
	}
	env, masks, err := a.maskEnv(origin.Started.AllowEnv, o.keepEnv)
	if err != nil {
		return nil, nil, err
	}
	home, _ := os.UserHomeDir() // without one there is nothing of it to be found
	models := slices.DeleteFunc(origin.Started.Models, func(m string) bool { return m == origin.Cascade.Model })
	runner, done, err := suite.Runner(origin.Cascade, models, env)
	if err != nil {
		return nil, nil, withExit(exitStorage, err, "freeze the session with the windlass that began it")
	}
	defer done() //nolint:errcheck // nothing was opened that could be lost
	t, err := snapshot.Freeze(ctx, snapshot.Recorded{
		Name: o.name, Cascade: file, Session: orName(origin.Started.Name, id), Models: models, Input: origin.Input, Match: match,
		Entries: rec.Entries, Env: env, Masks: append(masks, snapshot.PathMasks(origin.Started.WorkDir, origin.Started.Dir, home, origin.Started.Roots)...),
	}, runner, origin.Cascade)
	var unfaithful *snapshot.UnfaithfulError
	switch {
	case errors.As(err, &unfaithful):
		return nil, nil, withExit(exitFailed, fmt.Errorf("session %s cannot be frozen: run again with its answers it does not come to what is recorded:\n%w", id, err),
			"--keep-env NAME, if it depends on the value of a granted variable; windlass verify "+id)
	case err != nil:
		return nil, nil, err
	}
	return origin.Cascade, t, nil
}

func orName(name, id string) string {
	if name != "" {
		return name
	}
	return id
}

// cascadeOf returns the file that a test runs, as it stands in the test: relative to the test's own file.
func cascadeOf(h journal.Header, started core.Started, testPath, given string) (string, error) {
	file := given
	if file == "" {
		if h.File == stdinName {
			return "", usageError(fmt.Errorf("session %s has its cascade from standard input, and a test needs a file", h.SessionID), "--cascade FILE")
		}
		if file = h.File; !filepath.IsAbs(file) {
			file = filepath.Join(started.Dir, file)
		}
	}
	if _, err := os.Stat(file); err != nil {
		return "", usageError(fmt.Errorf("the cascade of the test cannot be read: %w", err), "--cascade FILE, where it is now")
	}
	from, err := filepath.Abs(filepath.Dir(testPath))
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if err == nil {
		file, err = filepath.Rel(from, file)
	}
	if err != nil {
		return "", usageError(fmt.Errorf("find the way from the test to its cascade: %w", err), "--dir FOLDER beside the cascade")
	}
	return filepath.ToSlash(file), nil
}

// maskEnv returns what templates of a test see of the granted variables: a placeholder each, or the value that is to be
// kept; and what puts the placeholder in the place of the value wherever that stands.
func (a *app) maskEnv(granted, keep []string) (map[string]string, []snapshot.Mask, error) {
	for _, name := range keep {
		if !slices.Contains(granted, name) {
			return nil, nil, usageError(fmt.Errorf("--keep-env %s: the run was not granted a variable of this name", name), "one that it was begun with as --allow-env NAME")
		}
	}
	env := map[string]string{}
	var masks []snapshot.Mask
	for _, name := range granted {
		value, set := environment.LookupEnv(name)
		// Its record has no values any more.
		recorded := snapshot.Mask{From: secret.Placeholder(name), To: placeholder(name)}
		if slices.Contains(keep, name) {
			recorded.To = value
		}
		masks = append(masks, recorded)
		switch {
		case slices.Contains(keep, name):
			if !set {
				return nil, nil, usageError(fmt.Errorf("--keep-env %s: it is not set", name), "set it to what it was in the run")
			}
			env[name] = value
			continue
		case !set:
			fmt.Fprintf(a.err, "Warning: %s is not set now, so its value cannot be found and replaced in the test.\n", name)
		case !snapshot.Maskable(value):
			fmt.Fprintf(a.err, "Warning: the value of %s is too short to be found and replaced in the test.\n", name)
		default:
			masks = append(masks, snapshot.Mask{From: value, To: placeholder(name)})
		}
		env[name] = placeholder(name)
	}
	return env, masks, nil
}

func placeholder(name string) string { return "<" + strings.ToUpper(name) + ">" }

// tellIfDifferent says when the cascade's file, which the test runs from now on, does not come to what the session came to.
func (a *app) tellIfDifferent(ctx context.Context, t *snapshot.Test, recorded *cascade.Cascade) {
	now, _, err := cascade.Load(t.CascadeFile(), core.Known())
	if err == nil && now != nil && encoded(now) == encoded(recorded) {
		return
	}
	if r := (suite.Options{Known: core.Known()}).Run(ctx, t); r.Status != suite.Passed {
		fmt.Fprintf(a.err, "Warning: %s is not the cascade that the session ran, and the test fails with it now: windlass test run %s\n", t.CascadeFile(), t.Path())
	}
}

// encoded encodes a cascade, so that it can be compared.
func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("windlass: cannot encode its own data: " + err.Error())
	}
	return string(text)
}
