package mailbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Grants is a folder of approvals that count for more than their call. The folder need not be there.
//
//	grant-WAIT.json    an approval, by the id of its wait
//	revoked-WAIT.json  who has revoked it; it never counts again
type Grants struct{ Dir string }

// Grant is an approval that counts for later calls of the same tool of the same cascade.
type Grant struct {
	ID      string          `json:"id"` // the wait whose answer it is
	Scope   echo.GrantScope `json:"scope"`
	Tool    string          `json:"tool"`
	Cascade string          `json:"cascade"`              // its hash, see [echo.AwaitedCall]
	Name    string          `json:"cascade_id,omitempty"` // for people
	Session string          `json:"session"`              // in which it was given
	By      string          `json:"by"`
	Via     echo.Via        `json:"via"`
	At      time.Time       `json:"at"`
	Revoked *Revoked        `json:"revoked,omitempty"` // nil: it counts; not in its file
}

// Revoked says who has revoked a grant.
type Revoked struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Covers reports whether a grant counts for a call in a session.
func (g *Grant) Covers(session string, call *echo.AwaitedCall) bool {
	return g.Revoked == nil && g.Tool == call.Tool && g.Cascade == call.Cascade &&
		(g.Scope == echo.GrantCascade || g.Scope == echo.GrantSession && g.Session == session)
}

// Give writes a grant. One that is there is left as it is.
func (f Grants) Give(g Grant) error {
	g.Revoked = nil
	err := Box{Dir: f.Dir}.write(grantFile(g.ID), g)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Revoke revokes a grant. The first who does so stays on record.
func (f Grants) Revoke(id string, r Revoked) error {
	err := Box{Dir: f.Dir}.write(revokedFile(id), r)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// All returns the grants, the oldest first, and why others cannot be read: these count for nothing.
func (f Grants) All() (list []*Grant, damaged []error) {
	names, err := os.ReadDir(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []error{fmt.Errorf("read the grants: %w", err)}
	}
	for _, e := range names {
		id, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".json"), "grant-")
		if !ok || e.Name() != grantFile(id) {
			continue
		}
		g, err := f.read(id)
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *Grant) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return list, damaged
}

func (f Grants) read(id string) (*Grant, error) {
	path := filepath.Join(f.Dir, grantFile(id))
	text, err := Box{Dir: f.Dir}.open(grantFile(id))
	if err != nil {
		return nil, err
	}
	var g Grant
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	switch err := dec.Decode(&g); {
	case err != nil:
		return nil, fmt.Errorf("read %s: it is no whole grant: %w", path, err)
	case g.ID != id || g.Tool == "" || g.Cascade == "" || g.Session == "" || g.At.IsZero():
		return nil, fmt.Errorf("read %s: it does not say what it is a grant of", path)
	}
	g.Revoked, err = f.revoked(id)
	return &g, err
}

// revoked returns who has revoked a grant, nil when nobody has. A file that cannot be read revokes it, too.
func (f Grants) revoked(id string) (*Revoked, error) {
	text, err := Box{Dir: f.Dir}.open(revokedFile(id))
	if text == nil && err == nil {
		return nil, nil //nolint:nilnil // see above
	}
	var r Revoked
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: it does not say who has revoked the grant: %w", filepath.Join(f.Dir, revokedFile(id)), err)
	}
	return &r, nil
}

func grantFile(id string) string   { return "grant-" + id + ".json" }
func revokedFile(id string) string { return "revoked-" + id + ".json" }
