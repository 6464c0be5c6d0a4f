package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/delivery"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/names"
	"github.com/windlass-run/windlass/internal/redaction"
	"github.com/windlass-run/windlass/internal/waits"
)

// RedactOptions say how a message is redacted.
type RedactOptions struct {
	Reason string
	Parts  bool   // its lines and long words are taken out of other messages, too
	DryRun bool   // only what would change is said
	By     string // the person, as banks note it
}

// Redacted is what redacting a message has come to, or would.
type Redacted struct {
	SessionID string `json:"session_id"`
	journal.Redaction
	Already  bool              `json:"already"`           // it was redacted before
	DryRun   bool              `json:"dry_run,omitempty"` // nothing has changed
	Entries  []uint64          `json:"entries"`           // of the journal that changed
	Left     []redaction.Place `json:"left"`              // that have lines or long words of the message; null: not known any more
	Short    int               `json:"short_values"`      // values of it with fewer than 4 characters, which were not looked for
	Files    []string          `json:"files"`             // that do, and were left as they are
	Sessions []string          `json:"sessions"`          // others that have the message
	Tree     []Relative        `json:"tree"`              // sessions that have begun it or that it has begun, also through others, and have its texts
	Stored   Stored            `json:"clickhouse"`
	Others   []string          `json:"other_databases"`    // that the session was delivered to
	Answers  []string          `json:"answers,omitempty"`  // the waits whose answers had texts of it, were not taken yet, and are removed
	Audibles []string          `json:"audibles,omitempty"` // letters with texts of it that no turn has taken, and are removed
	Memory   Memory            `json:"memory"`
}

// Stored is what became of the rows of a redacted session.
type Stored string

// What becomes of rows.
const (
	StoredNone     Stored = "none"     // there is no ClickHouse, or it has nothing of the session
	StoredReplaced Stored = "replaced" // the rows of before were removed, those of now are there
	StoredCurrent  Stored = "current"  // they were of now already
	StoredPending  Stored = "pending"  // they would be replaced
)

// Redact takes the content of a message out of a session of an archive on this machine: of its journal, and then
// of ClickHouse. The session is given by its id, or the end or the beginning of that, the message by the
// beginning of its hash. A session that a process runs is an error. When it fails after the journal was
// changed it can be called again.
func Redact(ctx context.Context, a *Archive, given, hash string, o RedactOptions) (*Redacted, error) {
	id, err := toRedact(a.Home, given)
	if err != nil {
		return nil, err
	}
	dir := config.SessionDir(a.Home, id)
	owned, err := journal.Own(dir)
	switch {
	case errors.Is(err, journal.ErrBusy):
		return nil, failure.New(failure.SessionBusy, fmt.Errorf("session %s is not redacted: a process runs it, or redacts it", id),
			"again, when its run has ended or the other redaction is done")
	case err != nil:
		return nil, failure.New(failure.StorageFailed, fmt.Errorf("redact session %s: %w", id, err), "")
	}
	r := &redacting{archive: a, owned: owned, dir: dir, id: id, options: o}
	done, err := r.run(ctx, hash)
	return done, errors.Join(err, owned.Close())
}

// toRedact returns the session of this machine that a name means, as far as one is redacted by that.
func toRedact(home, name string) (string, error) {
	id, err := here(home, name, names.IDs)
	if err != nil || id != "" {
		return id, err
	}
	other, _ := here(home, name, names.Everything)
	if names.IsReserved(name) || other != "" {
		return "", notByID(name, "redacted")
	}
	return "", failure.Newf(failure.UnknownSession, "no session %q has a journal on this machine: it is redacted where it was run", name)
}

// redacting is the redaction of a message, while the session is owned.
type redacting struct {
	archive *Archive
	owned   *journal.Owned
	dir, id string
	options RedactOptions
}

func (r *redacting) run(ctx context.Context, given string) (*Redacted, error) {
	rec, err := journal.Read(JournalPath(r.archive.Home, r.id))
	if err != nil {
		return nil, ReadError(err)
	}
	hash, err := redaction.Find(r.id, given, rec.Entries)
	if err != nil {
		return nil, r.findError(err)
	}
	at := time.Now().UTC().Truncate(time.Microsecond)
	plan, err := redaction.New(rec, hash, redaction.Options{At: at, Reason: r.options.Reason, Parts: r.options.Parts})
	if err != nil {
		return nil, failure.New(failure.Failed, err, "")
	}
	done := &Redacted{
		SessionID: r.id, Redaction: plan.Redaction, Already: plan.Already, DryRun: r.options.DryRun, Entries: append([]uint64{}, plan.Entries...),
		Short: plan.Short, Files: []string{}, Sessions: []string{}, Tree: []Relative{}, Stored: StoredNone, Others: []string{},
	}
	if !plan.Already {
		done.Left = append([]redaction.Place{}, plan.Left...)
	}
	if err := r.letters(done, plan, rec.Entries); err != nil {
		return nil, failure.New(failure.StorageFailed, err, "")
	}
	r.elsewhere(done, plan, rec)
	if done.Memory, err = r.memory(ctx, plan, rec.Header); err != nil {
		return nil, err
	}
	if err := r.journal(plan); err != nil {
		return nil, err
	}
	done.Stored, err = r.stored(ctx, plan)
	if err != nil && !plan.Already && !r.options.DryRun {
		err = r.halfDone(err)
	}
	return done, err
}

// letters removes the letters of the session's mailbox that would keep what is redacted: those that its record has, and
// those with texts of it that no run has taken.
func (r *redacting) letters(done *Redacted, plan *redaction.Plan, entries []*echo.Entry) error {
	home := r.archive.Home
	if plan.Parts != nil {
		done.Answers = waits.Redacted(home, r.id, entries, plan.Parts.In)
		done.Audibles = waits.RedactedAudibles(home, r.id, plan.Parts.In)
	}
	if r.options.DryRun {
		return nil
	}
	if err := waits.Forget(home, r.id, entries); err != nil {
		return err
	}
	return errors.Join(waits.ForgetAnswers(home, r.id, done.Answers), waits.ForgetAudibles(home, r.id, done.Audibles))
}

// findError gives the error of a message that is not found its kind.
func (r *redacting) findError(err error) error {
	kind := failure.UnknownMessage
	if errors.As(err, new(*redaction.HashError)) {
		kind = failure.InvalidRequest
	}
	return failure.New(kind, err, "windlass context show "+r.id+", which prints the hashes")
}

// halfDone says what is done when ClickHouse could not follow.
func (r *redacting) halfDone(err error) error {
	kind := failure.KindOf(err)
	return failure.New(kind, fmt.Errorf("the journal of session %s is redacted, and ClickHouse is not: %w", r.id, err), "windlass ship "+r.id+", when ClickHouse answers")
}

// journal writes the journal anew. Before that is noted that ClickHouse has nothing of it, but
// rows of before, so that whatever happens the next delivery replaces them.
func (r *redacting) journal(plan *redaction.Plan) error {
	if plan.Already || r.options.DryRun {
		return nil
	}
	for _, m := range delivery.ReadMarks(r.dir).Shipped {
		m.Seq, m.EntryAt, m.Before = 0, time.Time{}, true
		if err := delivery.SetMark(r.dir, m); err != nil {
			return failure.New(failure.StorageFailed, err, "")
		}
	}
	if err := r.owned.Rewrite(plan.Header, plan.Change); err != nil {
		return failure.New(failure.StorageFailed, err, "")
	}
	return nil
}

// stored has ClickHouse follow the journal: rows of before are removed, and then those of now
// delivered, so that one that is killed in between can be called again.
func (r *redacting) stored(ctx context.Context, plan *redaction.Plan) (done Stored, err error) {
	a := r.archive
	if marks := delivery.ReadMarks(r.dir); a.Database == nil || a.Address == nil || marks.KeepHere && len(marks.Shipped) == 0 {
		return StoredNone, nil
	}
	to, err := a.Address()
	if err != nil {
		return StoredNone, err
	}
	err = a.Database(ctx, func(ctx context.Context, db *clickhouse.DB) error {
		done, err = r.storedIn(ctx, db, to, plan)
		return err
	})
	return done, err
}

func (r *redacting) storedIn(ctx context.Context, db *clickhouse.DB, to string, plan *redaction.Plan) (Stored, error) {
	before, err := db.IsBefore(ctx, r.id, plan.Redaction.Hash)
	if err != nil {
		return StoredNone, err
	}
	done := StoredCurrent
	switch {
	case r.options.DryRun && before:
		return StoredPending, nil
	case r.options.DryRun:
		return StoredNone, nil
	case before:
		done = StoredReplaced
		if err := db.Remove(ctx, clickhouse.PartRows, []string{r.id}); err != nil {
			return done, err
		}
		if mark := delivery.ReadMarks(r.dir).Of(to); mark.Before {
			mark.Before = false // they are removed
			if err := delivery.SetMark(r.dir, mark); err != nil {
				return done, failure.New(failure.StorageFailed, err, "")
			}
		}
	}
	if err := db.RedactCards(ctx, r.id, plan.Hashes); err != nil {
		return done, err
	}
	if delivery.ReadMarks(r.dir).KeepHere {
		return StoredNone, nil
	}
	shipped, err := db.Ship(ctx, r.dir, clickhouse.ShipOptions{To: to, Again: before})
	if shipped.Rows > 0 {
		done = StoredReplaced
	}
	return done, err
}

// elsewhere notes where else the message, or parts of it, are: nothing of that changes.
func (r *redacting) elsewhere(done *Redacted, plan *redaction.Plan, rec *journal.Recording) {
	to := ""
	if r.archive.Address != nil {
		to, _ = r.archive.Address() // an error is met again
	}
	for _, m := range delivery.ReadMarks(r.dir).Shipped {
		if m.To != to {
			done.Others = append(done.Others, m.To)
		}
	}
	done.Sessions = append(done.Sessions, sessionsWith(r.archive.Home, r.id, plan.Redaction.Hash)...)
	if plan.Parts != nil {
		done.Files = append(done.Files, filesWith(plan.Parts, r.places(rec))...)
		done.Tree = append(done.Tree, relativesWith(r.archive.Home, r.id, plan.Parts)...)
	}
}

// places returns the folders that may have copies of what is in the session.
func (r *redacting) places(rec *journal.Recording) []string {
	places := []string{r.dir, config.CommitDir(r.archive.Home)}
	for _, dir := range testFolders(rec.Header) {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			places = append(places, dir)
		}
	}
	return places
}
