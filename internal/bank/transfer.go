package bank

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/failure"
)

// exported is the first line of an export; versions and remembered texts follow, a line each, the oldest first.
type exported struct {
	Version int    `json:"windlass_bank_export"`
	Name    string `json:"name"`
}

// exportedText is the line of a remembered text.
type exportedText struct {
	Remembered *memory.Text `json:"remembered,omitempty"`
}

// maxImport bounds a line of an export, in bytes: a text in JSON may be six times as long.
const maxImport = 6*memory.MaxFile + 1<<20

// Export writes all versions and all remembered texts of a bank as lines of JSON, which [Store.Import] reads; but no text that
// is withdrawn, as the import would not hear of it when that is taken back.
func (s *Store) Export(bank string, to io.Writer) error {
	h, err := s.Read(bank)
	if err != nil {
		return err
	}
	out := json.NewEncoder(to)
	if err := out.Encode(exported{min(needsOf(h.Entries), versionTexts), bank}); err != nil {
		return err
	}
	isOut := withdrawn(h)
	for _, e := range h.Entries {
		for _, v := range e.Versions {
			origin := e.origin(&v)
			v.Origin = &origin
			if err := out.Encode(v); err != nil {
				return err
			}
		}
		for i := range e.Texts {
			t := &e.Texts[i]
			if isOut(e, t) {
				continue
			}
			if err := out.Encode(exportedText{t}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Imported is what an import has come to.
type Imported struct {
	Versions  int      // that are new
	Texts     int      // remembered texts that are new
	Known     int      // versions and texts that the bank had
	Divergent []string // paths that were written here and elsewhere: both versions are kept, the next write settles them
}

// Import adds the versions and the remembered texts of an export that a bank does not have, all or none.
func (s *Store) Import(ctx context.Context, bank, person, name string, from io.Reader) (*Imported, error) {
	f, err := s.file(bank)
	if err != nil {
		return nil, err
	}
	versions, texts, err := readExport(name, from)
	if err != nil {
		return nil, failure.New(failure.InvalidRequest, err, "a file that windlass memory export NAME -o FILE has written, as it was written")
	}
	out := &Imported{}
	_, _, err = f.Append(ctx, func(h *History) (*Entry, error) {
		e := &Entry{By: Writer{Person: person}, Command: commandImport}
		known := h.ids()
		for _, v := range versions {
			if known[v.ID] {
				out.Known++
				continue
			}
			known[v.ID] = true
			e.Versions = append(e.Versions, v)
		}
		e.Texts = unknown(h, notWithdrawn(h, texts))
		out.Versions, out.Texts = len(e.Versions), len(e.Texts)
		if out.Known += len(texts) - out.Texts; out.Versions+out.Texts == 0 {
			return nil, nil //nolint:nilnil // see ledger.File.Append
		}
		if err := f.seal(e, h.Last()+1); err != nil {
			return nil, err
		}
		after := h.with(e)
		if wrong := after.Files(after.Now()).Check(); wrong != "" {
			return nil, failure.New(failure.InvalidRequest, fmt.Errorf("import %s into the bank %s: %s", name, bank, problem(wrong)),
				"windlass memory import with the name of another bank, or windlass memory edit "+bank+" PATH --rename or --delete before")
		}
		out.Divergent = after.divergent(e)
		return e, nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ids returns the ids of all versions.
func (h *History) ids() map[string]bool {
	out := map[string]bool{}
	for _, e := range h.Entries {
		for i := range e.Versions {
			out[e.Versions[i].ID] = true
		}
	}
	return out
}

// divergent returns the paths of an entry that have several versions which nothing replaces, sorted.
func (h *History) divergent(e *Entry) (out []string) {
	paths := map[string]bool{}
	for i := range e.Versions {
		paths[e.Versions[i].Path] = true
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if len(h.Heads(path, h.Last())) > 1 {
			out = append(out, path)
		}
	}
	return out
}

func readExport(name string, from io.Reader) (out []Version, texts []memory.Text, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxImport)
	number := 0
	for lines.Scan() {
		number++
		if number == 1 {
			var h exported
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil || h.Version < versionFirst || h.Version > FormatVersion {
				return nil, nil, fmt.Errorf("read %s:1: it is no export of a bank of version %d to %d", name, versionFirst, FormatVersion)
			}
			continue
		}
		v, text, err := readExported(lines.Bytes())
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("read %s:%d: %w", name, number, err)
		case text != nil:
			texts = append(texts, *text)
		default:
			out = append(out, v)
		}
	}
	err = lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("the line has more than %d bytes", maxImport)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s:%d: %w", name, number+1, err)
	}
	if number == 0 {
		return nil, nil, fmt.Errorf("read %s: it is empty", name)
	}
	return out, texts, nil
}

// readExported reads a line of an export: a version, or a remembered text.
func readExported(line []byte) (v Version, text *memory.Text, err error) {
	var other exportedText
	if json.Unmarshal(line, &other) == nil && other.Remembered != nil {
		return v, other.Remembered, checkText(other.Remembered)
	}
	if err := json.Unmarshal(line, &v); err != nil {
		return v, nil, noVersion(err)
	}
	return v, nil, checkImported(&v)
}

// checkText demands that a remembered text is one that windlass has written.
func checkText(t *memory.Text) error {
	switch {
	case t.Forgotten && t.Text != "":
		return errors.New("a forgotten text is there")
	case !isID(string(t.Hash)) || !t.Forgotten && echo.TextHash([]byte(t.Text)) != t.Hash:
		return errors.New("the text is not that of its hash: it was changed")
	case len(t.Text) > memory.MaxText:
		return fmt.Errorf("the text has %d bytes, the limit is %d", len(t.Text), memory.MaxText)
	case !utf8.ValidString(t.Text):
		return errors.New("the text is not valid UTF-8")
	}
	return nil
}

// noVersion says why a line is no version, without the names that this program has for its parts.
func noVersion(err error) error {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && kind.Field != "" {
		return fmt.Errorf("it is no version of a bank: %s cannot be a JSON %s", kind.Field, kind.Value)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("it is no version of a bank: %w", syntax)
	}
	return errors.New("it is no version of a bank")
}

var isID = regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString

// checkImported demands that a version is one that windlass has written.
func checkImported(v *Version) error {
	if v.Origin == nil {
		return errors.New("the version has no origin")
	}
	if id, err := idOf(*v, *v.Origin); err != nil || id != v.ID {
		return errors.New("the id of the version does not follow from it: it was changed")
	}
	if !v.Gone && !v.Forgotten && echo.TextHash([]byte(v.Text)) != v.Hash {
		return errors.New("the text is not that of its hash: it was changed")
	}
	if (v.Gone || v.Forgotten) && v.Text != "" {
		return errors.New("a version without a text has one")
	}
	for _, parent := range v.Parents {
		if !isID(parent) {
			return errors.New("a version that it replaces has an id that windlass does not write")
		}
	}
	for _, path := range []string{v.Path, cmp.Or(v.From, v.Path)} {
		if wrong := memory.CheckFile(path, v.Text); wrong != "" {
			return errors.New(problem(wrong))
		}
	}
	return nil
}
