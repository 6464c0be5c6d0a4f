package protection

import (
	"fmt"
	"slices"
	"strings"
)

// Rules say which files may be written. They are immutable.
type Rules struct {
	rows   []rule
	grants []pattern
}

type rule struct {
	Row
	patterns []pattern
}

// New returns the rules of the table, of protect_paths and of the grants. A pattern of
// protect_paths names a file, or a folder with everything in it, at any depth; with a leading
// slash, absolutely. A grant names files by their whole path from the granted folder, or
// absolutely. * and ? stand for characters of one name, ** for any number of names. A ".git" and a
// bare repository are granted by their name without wildcards only.
func New(protect, allow []string) (*Rules, error) {
	r := &Rules{}
	rows := Table()
	for _, text := range protect {
		rows = append(rows, Row{
			Names: []string{text}, By: "windlass.json protects", What: fmt.Sprintf("it (protect_paths: %q)", text),
		})
	}
	for _, row := range rows {
		one := rule{Row: row}
		for _, name := range row.Names {
			p, err := parsePath(name)
			if err != nil { // a test holds the table against it
				return nil, fmt.Errorf("protect_paths: %q: %w", name, err)
			}
			one.patterns = append(one.patterns, p)
		}
		r.rows = append(r.rows, one)
	}
	for _, text := range allow {
		p, err := parsePattern(text)
		if err != nil {
			return nil, fmt.Errorf("--allow-write %q: %w", text, err)
		}
		r.grants = append(r.grants, p)
	}
	return r, nil
}

// File is a file that is to be written, by its path with all links followed.
type File struct {
	Above []string // the names of the absolute path of the granted folder; nil when what is above it does not count
	Path  []string // the names from the granted folder on
	Bare  []bool   // for each name of Above and Path: the folder that it is in is a bare repository, or would become one
}

// RefusedError says that a file is not written.
type RefusedError struct {
	Row   Row
	Grant string // the pattern of --allow-write that would grant it
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("not written without a grant: %s %s; grant with --allow-write %s", e.Row.By, e.Row.What, quote(e.Grant))
}

// quote quotes a word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Check refuses a file that is in the table by its name or folder, with a [*RefusedError].
func (r *Rules) Check(f File) error {
	folded := f.folded()
	for _, row := range r.rows {
		protects := func(p pattern) bool { return p.protects(folded, f.Above != nil) }
		if slices.ContainsFunc(row.patterns, protects) {
			return r.unlessGranted(f, row.Row)
		}
	}
	if slices.Contains(f.Bare, true) {
		return r.unlessGranted(f, bareRepositories)
	}
	return nil
}

// CheckText refuses a file whose text, before or after, is a cascade, with a [*RefusedError].
func (r *Rules) CheckText(f File, texts ...[]byte) error {
	for _, text := range texts {
		if IsCascade(text) {
			return r.unlessGranted(f, cascades)
		}
	}
	return nil
}

// folded returns the names as they are compared; a backslash separates names on Windows.
func (f File) folded() []foldedName {
	var out []foldedName
	for _, name := range slices.Concat(f.Above, f.Path) {
		for part := range strings.SplitSeq(name, `\`) {
			out = append(out, foldName(part))
		}
	}
	return out
}

func (r *Rules) unlessGranted(f File, row Row) error {
	explicit := f.explicit()
	above := explicit[:len(f.Above)]
	for _, p := range r.grants {
		switch {
		case p.rooted && f.Above != nil && p.grants(slices.Concat(f.Above, f.Path), explicit):
			return nil
		case !p.rooted && !slices.Contains(above, true) && p.grants(f.Path, explicit[len(f.Above):]):
			return nil
		}
	}
	grant := strings.Join(f.Path, "/")
	if slices.Contains(above, true) {
		grant = rooted(f.Above) + "/" + grant
	}
	return &RefusedError{Row: row, Grant: escapedPath(grant)}
}

func (f File) explicit() []bool {
	names := slices.Concat(f.Above, f.Path)
	out := make([]bool, len(names))
	for i, name := range names {
		out[i] = foldName(name).matches(".git") || i+1 < len(f.Bare) && f.Bare[i+1]
	}
	return out
}

// rooted returns an absolute path. A drive of Windows has no slash before it.
func rooted(names []string) string {
	path := strings.Join(names, "/")
	if strings.Contains(names[0], ":") {
		return path
	}
	return "/" + path
}

// IsBare says by the names in a folder whether it is a bare repository, whose hooks git runs.
func IsBare(has func(name string) bool) bool {
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

// SameName says whether a file system may take two names for one.
func SameName(a, b string) bool { return fold(a) == fold(b) }
