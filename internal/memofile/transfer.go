package memofile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/failure"
)

// exported is the first line of an export; versions follow, a line each, the oldest first.
type exported struct {
	Version int    `json:"windlass_memos_export"`
	Scope   string `json:"scope"`
}

// maxImport bounds a line of an export, in bytes: a character of a text may have 12 in JSON.
const maxImport = 12*memo.MaxText + 1<<16

// Export writes all versions of the memos of a scope as lines of JSON, which [Store.Import] reads.
func (s *Store) Export(scope string, to io.Writer) error {
	h, err := s.Read(scope)
	if err != nil {
		return err
	}
	out := json.NewEncoder(to)
	if err := out.Encode(exported{FormatVersion, scope}); err != nil {
		return err
	}
	for _, p := range h.Versions("") {
		v, origin := *p.Version, p.Origin()
		v.Origin = &origin
		if err := out.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// Imported is what an import has come to.
type Imported struct {
	Versions int // that are new
	Known    int // that were there
}

// Import adds the versions of an export that a scope does not have, all or none. Of a memo that was written here and
// elsewhere, the version that was written last counts.
func (s *Store) Import(ctx context.Context, scope, person, name string, from io.Reader) (*Imported, error) {
	versions, err := readExport(name, from)
	if err != nil {
		return nil, failure.New(failure.InvalidRequest, err, "a file that windlass memos export -o FILE has written, as it was written")
	}
	f, err := s.file(scope)
	if err != nil {
		return nil, err
	}
	out := &Imported{}
	_, _, err = f.Append(ctx, func(h *History) (*Entry, error) {
		e := &Entry{By: memo.Writer{Person: person}, Command: commandImport}
		known := map[string]bool{}
		for _, p := range h.Versions("") {
			known[p.ID] = true
		}
		for _, v := range versions {
			if known[v.ID] {
				out.Known++
				continue
			}
			known[v.ID] = true
			e.Versions = append(e.Versions, v)
		}
		if out.Versions = len(e.Versions); out.Versions == 0 {
			return nil, nil //nolint:nilnil // see ledger.File.Append
		}
		if n := len(h.with(e).Now()); n > memo.MaxMemos {
			return nil, failure.New(failure.InvalidRequest, fmt.Errorf("import %s: there would be %d memos of the scope %s, the limit is %d", name, n, scope, memo.MaxMemos),
				"windlass memos delete ID for those that nobody needs")
		}
		return e, f.seal(h, e)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func readExport(name string, from io.Reader) (out []Version, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxImport)
	number := 0
	for lines.Scan() {
		number++
		if number == 1 {
			var h exported
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil || h.Version != FormatVersion {
				return nil, fmt.Errorf("read %s:1: it is no export of memos of version %d", name, FormatVersion)
			}
			continue
		}
		var v Version
		if json.Unmarshal(lines.Bytes(), &v) != nil {
			return nil, fmt.Errorf("read %s:%d: it is no version of a memo", name, number)
		}
		if err := checkImported(&v); err != nil {
			return nil, fmt.Errorf("read %s:%d: %w", name, number, err)
		}
		out = append(out, v)
	}
	err = lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		err = fmt.Errorf("read %s:%d: the line has more than %d bytes", name, number+1, maxImport)
	case err != nil:
		err = fmt.Errorf("read %s:%d: %w", name, number+1, err)
	case number == 0:
		err = fmt.Errorf("read %s: it is empty", name)
	}
	return out, err
}

// IDPattern is the regular expression of the ids of memos.
const IDPattern = `^m[0-9a-f]{8}$`

var isID = regexp.MustCompile(IDPattern).MatchString

// checkImported demands that a version is one that windlass has written.
func checkImported(v *Version) error {
	if v.Origin == nil {
		return errors.New("the version has no origin")
	}
	if !isID(v.Memo) {
		return errors.New("the memo has an id that windlass does not write")
	}
	if err := v.check(*v.Origin); err != nil {
		return fmt.Errorf("%w: it was changed", err)
	}
	if !v.hasText() {
		v.Tags = nil
		return nil
	}
	text, problem := memo.CheckText(v.Text)
	if problem == "" && text != v.Text {
		problem = "The text begins or ends with spaces"
	}
	if problem == "" {
		var tags []string
		if tags, problem = memo.CheckTags(v.Tags); problem == "" && !slices.Equal(tags, v.Tags) {
			problem = "A tag is there twice"
		}
	}
	if problem != "" {
		return errors.New(problem)
	}
	return nil
}
