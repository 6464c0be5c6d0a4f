package waits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Survey is what the sessions of this machine wait for, as far as it can be read.
type Survey struct {
	Open    []*Wait // the oldest first
	Damaged []error // what cannot be read: each names its session or its file
}

// Survey returns what one session and its children wait for, or all for "". One session or letter that is damaged
// hides no other.
func (d Desk) Survey(ctx context.Context, session string) (*Survey, error) {
	all, err := sessions.All(config.SessionsDir(d.Home))
	if err != nil {
		return nil, failure.New(failure.StorageFailed, fmt.Errorf("list sessions: %w", err), "")
	}
	out := &Survey{}
	for _, s := range all {
		if session != "" && s.ID != session && s.Header.Root != session {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.look(out, s)
	}
	if session == "" {
		out.Damaged = append(out.Damaged, HomeBox(d.Home).Damaged()...)
	}
	slices.SortFunc(out.Open, func(a, b *Wait) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// look adds what one session waits for. A session of another version is none of this program.
func (d Desk) look(out *Survey, s *sessions.Session) {
	if s.Err == nil && s.End.Whole && s.End.Status != echo.StatusWaiting {
		return
	}
	err := s.Err
	var rec *journal.Recording
	if err == nil {
		rec, err = journal.Read(filepath.Join(s.Dir, journal.File))
	}
	switch {
	case errors.As(err, new(*journal.VersionError)):
	case err != nil:
		out.Damaged = append(out.Damaged, fmt.Errorf("session %s: %w", s.ID, err))
	default:
		open, damaged := d.open(rec)
		if len(open) > 0 {
			damaged = append(damaged, Box(d.Home, s.ID).Damaged()...)
		}
		out.Open, out.Damaged = append(out.Open, open...), append(out.Damaged, damaged...)
	}
}
