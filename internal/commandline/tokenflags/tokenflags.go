// Package tokenflags has what windlass serve token shows of issued tokens, and says in flags why one is not issued.
package tokenflags

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/commandline/answerflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server/token"
	"github.com/windlass-run/windlass/internal/term"
)

// RightsOf returns the rights that --rights names.
func RightsOf(names []string) []token.Right {
	list := make([]token.Right, len(names))
	for i, n := range names {
		list[i] = token.Right(n)
	}
	return list
}

// Views returns tokens without their hashes.
func Views(list []token.Issued) []View {
	views := []View{}
	for i := range list {
		views = append(views, ViewOf(&list[i]))
	}
	return views
}

// Created is a token that was issued, as it is shown once.
type Created struct {
	Token string `json:"token"`
	View
}

// View is an issued token without its hash.
type View struct {
	Name    string        `json:"name"`
	Rights  []token.Right `json:"rights"`
	Created time.Time     `json:"created_at"`
	Expires time.Time     `json:"expires_at"`
}

// ViewOf returns a token without its hash.
func ViewOf(t *token.Issued) View { return View{t.Name, t.Rights, t.Created, t.Expires} }

// Rights returns what a token allows, as a person reads it.
func Rights(t *token.Issued) string {
	words := make([]string, len(t.Rights))
	for i, r := range t.Rights {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}

// Table lists tokens as they are at a time.
func Table(list []token.Issued, now time.Time) *term.Table {
	t := term.NewTable("name", "rights", "until")
	for i := range list {
		until := list[i].Expires.Local().Format("2006-01-02 15:04")
		if list[i].HasExpired(now) {
			until = "expired " + until
		}
		t.Add(list[i].Name, Rights(&list[i]), until)
	}
	return t.Key("name")
}

// Audit changes tokens, with a line of the audit.
func Audit(ctx context.Context, home, what, name string, change func() error) error {
	l := audit.Line{At: time.Now(), By: answerflags.UserName(), Via: string(echo.ViaCommand), What: what, Target: name}
	return audit.Do(ctx, home, l, func() error {
		if err := change(); err != nil {
			var asked *token.RequestError
			if errors.As(err, &asked) {
				return failure.New(failure.InvalidRequest, err, asked.Try)
			}
			return failure.New(failure.StorageFailed, err, "")
		}
		return nil
	})
}

// Problem says in flags why a token is not issued, listed or revoked.
func Problem(err error) error {
	var asked *token.RequestError
	var refused *token.FileError
	switch {
	case errors.As(err, &asked):
		return exit.UsageError(asked, asked.Try)
	case errors.As(err, &refused):
		return exit.With(exit.Storage, err, refused.Try)
	case failure.KindOf(err) == failure.Failed:
		return exit.With(exit.Storage, err, "set WINDLASS_HOME to a folder that can be written")
	}
	return err
}
