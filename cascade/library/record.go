package library

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// Recorded is what a cascade reaches, in the header of a session.
type Recorded struct {
	Refs     map[string]string  `json:"refs"`     // of the session's cascade: the hash of what a name reaches
	Cascades map[string]*Volume `json:"cascades"` // by hash
}

// Volume is one cascade of it.
type Volume struct {
	File    string            `json:"file"`
	Cascade json.RawMessage   `json:"cascade"`
	Refs    map[string]string `json:"refs,omitempty"`
}

// Encode returns what a cascade reaches as it is recorded, nil when it reaches nothing. [Read] reads it.
func Encode(c *cascade.Cascade) (json.RawMessage, error) {
	if len(c.Reaches) == 0 {
		return nil, nil
	}
	all := &Recorded{Refs: refsOf(c), Cascades: map[string]*Volume{}}
	if err := all.add(c); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

func (r *Recorded) add(c *cascade.Cascade) error {
	for _, ref := range slices.Sorted(maps.Keys(c.Reaches)) {
		to := c.Reaches[ref]
		if r.Cascades[to.Hash] != nil {
			continue
		}
		raw, err := json.Marshal(to.Cascade)
		if err != nil {
			return fmt.Errorf("encode the cascade %s: %w", to.File, err)
		}
		r.Cascades[to.Hash] = &Volume{File: to.File, Cascade: raw, Refs: refsOf(to.Cascade)}
		if err := r.add(to.Cascade); err != nil {
			return err
		}
	}
	return nil
}

// All yields a cascade, without a file, and everything that it reaches, each once, with its file.
func All(c *cascade.Cascade) iter.Seq2[string, *cascade.Cascade] {
	return func(yield func(string, *cascade.Cascade) bool) {
		seen := map[string]bool{}
		var each func(file string, c *cascade.Cascade) bool
		each = func(file string, c *cascade.Cascade) bool {
			if !yield(file, c) {
				return false
			}
			for _, ref := range slices.Sorted(maps.Keys(c.Reaches)) {
				to := c.Reaches[ref]
				if seen[to.Hash] {
					continue
				}
				if seen[to.Hash] = true; !each(to.File, to.Cascade) {
					return false
				}
			}
			return true
		}
		each("", c)
	}
}

func refsOf(c *cascade.Cascade) map[string]string {
	if len(c.Reaches) == 0 {
		return nil
	}
	refs := make(map[string]string, len(c.Reaches))
	for ref, to := range c.Reaches {
		refs[ref] = to.Hash
	}
	return refs
}

// Hash returns the hash of a cascade with all that it reaches: the first 16 hexadecimal digits of the
// SHA-256 of its canonical JSON or, when it reaches others, of that of {"cascade", "refs"}, where
// refs has their hashes by the names that it has for them.
func Hash(c *cascade.Cascade) string {
	raw, err := json.Marshal(c)
	if err != nil {
		panic("windlass: cannot encode its own data: " + err.Error())
	}
	text := canonical(nil, decoded(raw))
	if refs := refsOf(c); refs != nil {
		head := append([]byte(`{"cascade":`), text...)
		text = append(canonical(append(head, `,"refs":`...), refs), '}')
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

func decoded(raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic("windlass: cannot read its own data: " + err.Error())
	}
	return v
}

// canonical appends a JSON value with its members sorted, without white space, and with only what must
// be escaped escaped. Numbers are as they were written.
func canonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		return object(dst, v)
	case map[string]string:
		return object(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = canonical(dst, item)
		}
		return append(dst, ']')
	case string:
		return echo.AppendString(dst, v)
	case json.Number:
		return append(dst, v...)
	case bool:
		return fmt.Append(dst, v)
	}
	return append(dst, "null"...)
}

func object[V any](dst []byte, members map[string]V) []byte {
	dst = append(dst, '{')
	for i, key := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canonical(append(echo.AppendString(dst, key), ':'), members[key])
	}
	return append(dst, '}')
}

// Read reads the cascade of a session with what it reaches, as [cascade.Parse] does; name stands for
// its file. Nothing else is read: a name means what it meant when the session began.
func Read(name string, recordedCascade, lib json.RawMessage, known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
	known.Recorded = true
	r := &reader{name: name, known: known, done: map[string]*cascade.Reached{}, open: map[string]bool{}}
	if len(lib) > 0 {
		if err := json.Unmarshal(lib, &r.lib); err != nil {
			return nil, nil, fmt.Errorf("read the other cascades of %s: %w", name, err)
		}
	}
	return r.parse(name, recordedCascade, r.lib.Refs)
}

// reader reads a recorded library.
type reader struct {
	name  string
	known cascade.Known
	lib   Recorded
	done  map[string]*cascade.Reached
	open  map[string]bool // what is being read
}

func (r *reader) parse(name string, raw []byte, refs map[string]string) (*cascade.Cascade, cascade.Diagnostics, error) {
	reaches := make(map[string]*cascade.Reached, len(refs))
	for ref, hash := range refs {
		to, err := r.read(hash)
		if err != nil {
			return nil, nil, fmt.Errorf("read the cascade %q, which %s reaches: %w", ref, name, err)
		}
		reaches[ref] = to
	}
	known := r.known
	known.Resolve = func(ref string) (*cascade.Reached, *cascade.Problem) {
		if to := reaches[ref]; to != nil {
			return to, nil
		}
		return nil, &cascade.Problem{NotFound: true, Message: fmt.Sprintf("the session has recorded no cascade for %q", ref)}
	}
	c, found, err := cascade.Parse(name, raw, known)
	if c != nil && len(reaches) > 0 {
		c.Reaches = reaches
	}
	return c, found, err
}

func (r *reader) read(hash string) (*cascade.Reached, error) {
	if done := r.done[hash]; done != nil {
		return done, nil
	}
	of := r.lib.Cascades[hash]
	switch {
	case of == nil:
		return nil, fmt.Errorf("there is none with the hash %.32q", hash)
	case r.open[hash]:
		return nil, errors.New("it reaches itself")
	case len(r.open) >= cascade.MaxDepth:
		return nil, fmt.Errorf("it is more than %d deep", cascade.MaxDepth)
	}
	r.open[hash] = true
	c, _, err := r.parse(fmt.Sprintf("%s/library/%.32s", r.name, hash), of.Cascade, of.Refs)
	delete(r.open, hash)
	if err != nil {
		return nil, err
	}
	done := &cascade.Reached{File: of.File, Hash: hash, Cascade: c}
	r.done[hash] = done
	return done, nil
}
