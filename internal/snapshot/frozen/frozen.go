// Package frozen makes tests of recorded sessions, as files.
package frozen

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/snapshot"
	"github.com/windlass-run/windlass/internal/snapshot/suite"
)

// Options say what test is made.
type Options struct {
	Name    string            // of the test
	Dir     string            // the folder that it is written to; it is made when there is none
	Match   []snapshot.Aspect // what is compared
	Cascade string            // the file that the test runs; "": the one that the session was started with
	KeepEnv []string          // the granted variables whose values are kept in the test
	Warn    func(string)      // gets what a person should know of the test; never nil
}

// CheckEnded returns a [*NotEndedError] for a session that no test can be made of.
func CheckEnded(rec *journal.Recording) error {
	switch end := record.EndOf(rec.Entries); end.Status {
	case echo.StatusCompleted, echo.StatusFailed:
		return nil
	default:
		return failure.New(failure.InvalidRequest, &NotEndedError{SessionID: rec.Header.SessionID, Status: end.Status}, "")
	}
}

// Make writes DIR/NAME.test.json, which must not exist. The error may be an UnfaithfulError.
func Make(ctx context.Context, rec *journal.Recording, o Options) (*snapshot.Test, error) {
	if err := CheckEnded(rec); err != nil {
		return nil, err
	}
	path := filepath.Join(o.Dir, o.Name+snapshot.Suffix)
	if _, err := os.Lstat(path); err == nil {
		return nil, existsError(path)
	}
	c, t, err := testOf(ctx, rec, path, o)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil { //nolint:gosec // made to be committed
		return nil, failure.New(failure.StorageFailed, &WriteError{err}, "")
	}
	switch err := t.Create(path); {
	case errors.Is(err, os.ErrExist):
		return nil, existsError(path)
	case err != nil:
		return nil, failure.New(failure.StorageFailed, &WriteError{err}, "")
	}
	warnOfDifference(ctx, t, c, o.Warn)
	return t, nil
}

func testOf(ctx context.Context, rec *journal.Recording, path string, o Options) (*cascade.Cascade, *snapshot.Test, error) {
	id := rec.Header.SessionID
	origin, err := app.ReadHeader(rec.Header)
	if err != nil {
		return nil, nil, failure.New(failure.OtherVersion, &OriginError{err}, "")
	}
	file, err := cascadeOf(rec.Header, origin.Started, path, o.Cascade)
	if err != nil {
		return nil, nil, err
	}
	env, masks, err := maskEnv(origin.Started.AllowEnv, o)
	if err != nil {
		return nil, nil, err
	}
	home, _ := os.UserHomeDir() // without one there is nothing of it to be found
	models := slices.DeleteFunc(origin.Started.Models, func(m string) bool { return m == origin.Cascade.Model })
	runner, done, err := suite.Runner(origin.Cascade, models, env)
	if err != nil {
		return nil, nil, failure.New(failure.OtherVersion, &OriginError{err}, "")
	}
	defer done() //nolint:errcheck // nothing was opened that could be lost
	t, err := snapshot.Freeze(ctx, snapshot.Recorded{
		Name: o.Name, Cascade: file, Rules: rec.Header.Rules, Off: origin.Started.Off, Session: cmp.Or(origin.Started.Name, id), Models: models, Input: origin.Input, Match: o.Match,
		Entries: rec.Entries, Env: env, Masks: append(masks, snapshot.PathMasks(origin.Started.WorkDir, origin.Started.Dir, home, origin.Started.Roots)...),
	}, runner, origin.Cascade)
	var unfaithful *snapshot.UnfaithfulError
	if errors.As(err, &unfaithful) {
		err = unfaithfulError(rec, unfaithful)
	}
	if err != nil {
		return nil, nil, err
	}
	return origin.Cascade, t, nil
}

func cascadeOf(h journal.Header, started app.Started, testPath, given string) (string, error) {
	file := given
	if file == "" {
		if h.File == app.Stdin {
			return "", cascadeError(NoCascadeFile, "session %s has its cascade from standard input, and a test needs a file", h.SessionID)
		}
		if file = h.File; !filepath.IsAbs(file) {
			file = filepath.Join(started.Dir, file)
		}
	}
	if _, err := os.Stat(file); err != nil {
		return "", cascadeError(UnreadableCascade, "the cascade of the test cannot be read: %w", err)
	}
	from, err := filepath.Abs(filepath.Dir(testPath))
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if err == nil {
		file, err = filepath.Rel(from, file)
	}
	if err != nil {
		return "", cascadeError(UnreachableCascade, "find the way from the test to its cascade: %w", err)
	}
	return filepath.ToSlash(file), nil
}

// warnOfDifference warns when the cascade's file does not come to what the session came to.
func warnOfDifference(ctx context.Context, t *snapshot.Test, recorded *cascade.Cascade, warn func(string)) {
	now, _, err := app.LoadFile(ctx, t.CascadeFile(), app.Known())
	if err == nil && now != nil && encoded(now) == encoded(recorded) {
		return
	}
	if r := (suite.Options{Load: app.LoadKnown}).Run(ctx, t); r.Status != suite.Passed {
		warn(fmt.Sprintf("%s is not the cascade that the session ran, and the test fails with it now: windlass test run %s", t.CascadeFile(), t.Path()))
	}
}

func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("windlass: cannot encode its own data: " + err.Error())
	}
	return string(text)
}
