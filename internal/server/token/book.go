package token

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/windlass-run/windlass/internal/wholefile"
)

// Right is what a token allows.
type Right string

// The rights.
const (
	Read   Right = "read"   // everything that only shows
	Run    Right = "run"    // start, cancel and resume runs
	Answer Right = "answer" // answer waits, send signals
)

// Rights are all of them.
func Rights() []Right { return []Right{Read, Run, Answer} }

// ServerName is the name of the token that a server has of its own, which has all rights.
const ServerName = "server"

// Issued is a token that was made for somebody. Its text is nowhere: only whoever got it knows it.
type Issued struct {
	Name    string    `json:"name"`
	Rights  []Right   `json:"rights"`
	Created time.Time `json:"created_at"`
	Expires time.Time `json:"expires_at"`
	Hash    string    `json:"sha256"` // of the text
}

// May reports whether a token allows something.
func (t *Issued) May(r Right) bool { return slices.Contains(t.Rights, r) }

// HasExpired reports whether a token allows nothing any more.
func (t *Issued) HasExpired(now time.Time) bool { return !now.Before(t.Expires) }

// The bounds of issued tokens.
const (
	maxIssued   = 1000
	maxBook     = 1 << 20
	shortest    = time.Minute
	longestDays = 3650
)

const (
	bookFile = "issued.json"
	bookLock = "issued.lock"
)

// Book has the tokens that were issued for the servers of a home folder. It is safe for concurrent use, and reads its file
// again when that has changed.
type Book struct {
	dir string

	mu     sync.Mutex // guards what follows
	seen   fs.FileInfo
	issued []Issued
}

// NewBook returns the book in a folder of tokens, see [Folder].
func NewBook(dir string) *Book { return &Book{dir: dir} }

type book struct {
	Tokens []Issued `json:"tokens"`
}

// RequestError says why a token cannot be issued or revoked as it was asked for.
type RequestError struct{ Why, Try string }

func (e *RequestError) Error() string { return e.Why }

// Issue makes a token, and returns its text, which is kept nowhere. With "" as the name it gets one.
func (b *Book) Issue(ctx context.Context, name string, rights []Right, lasts time.Duration, now time.Time) (text string, issued *Issued, err error) {
	if err := checkIssue(name, rights, lasts); err != nil {
		return "", nil, err
	}
	err = b.change(ctx, func(list []Issued) ([]Issued, error) {
		if name == "" {
			name = freeName(list)
		}
		switch {
		case has(list, name):
			return nil, &RequestError{fmt.Sprintf("there is a token %q already", name), "another --name, or windlass serve token revoke " + name}
		case len(list) >= maxIssued:
			return nil, &RequestError{fmt.Sprintf("there are %d tokens, which is the most", len(list)), "windlass serve token revoke NAME"}
		}
		text = random()
		sum := sha256.Sum256([]byte(text))
		now = now.UTC().Truncate(time.Second)
		issued = &Issued{Name: name, Rights: rights, Created: now, Expires: now.Add(lasts), Hash: hex.EncodeToString(sum[:])}
		return append(list, *issued), nil
	})
	return text, issued, err
}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

func checkIssue(name string, rights []Right, lasts time.Duration) error {
	if name != "" && !nameForm().MatchString(name) || name == ServerName {
		return &RequestError{fmt.Sprintf("%q cannot be the name of a token", name), "a name of letters, digits, points, underscores and hyphens, other than " + ServerName}
	}
	if len(rights) == 0 {
		return &RequestError{"a token without rights allows nothing", "--rights read,run,answer, or some of them"}
	}
	for i, r := range rights {
		switch {
		case !slices.Contains(Rights(), r):
			return &RequestError{fmt.Sprintf("%q is no right of a token", r), "--rights read,run,answer, or some of them"}
		case slices.Contains(rights[:i], r):
			return &RequestError{fmt.Sprintf("the right %q is given twice", r), "each right once"}
		}
	}
	if lasts < shortest || lasts > longestDays*24*time.Hour {
		return &RequestError{fmt.Sprintf("a token lasts for a minute to %d days", longestDays), "--expires 30d, or 12h"}
	}
	return nil
}

func has(list []Issued, name string) bool {
	return slices.ContainsFunc(list, func(t Issued) bool { return t.Name == name })
}

func freeName(list []Issued) string {
	for n := 1; ; n++ {
		if name := fmt.Sprintf("token-%d", n); !has(list, name) {
			return name
		}
	}
}

// Revoke takes a token away: from then on it allows nothing.
func (b *Book) Revoke(ctx context.Context, name string) error {
	return b.change(ctx, func(list []Issued) ([]Issued, error) {
		left := slices.DeleteFunc(slices.Clone(list), func(t Issued) bool { return t.Name == name })
		if len(left) == len(list) {
			return nil, &RequestError{fmt.Sprintf("there is no token %q", name), "windlass serve token list"}
		}
		return left, nil
	})
}

// change replaces the tokens of the file, which nobody else does at the same time.
func (b *Book) change(ctx context.Context, of func([]Issued) ([]Issued, error)) error {
	if err := folder(b.dir); err != nil {
		return err
	}
	lock := newLock(filepath.Join(b.dir, bookLock))
	patience, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	if taken, err := lock.TryLockContext(patience, 10*time.Millisecond); err != nil || !taken {
		return fmt.Errorf("lock the issued tokens: %w", errors.Join(err, lock.Close()))
	}
	defer lock.Close() //nolint:errcheck // nothing is written to it
	list, err := readBook(b.path())
	if err != nil {
		return err
	}
	if list, err = of(list); err != nil {
		return err
	}
	text, err := json.MarshalIndent(book{list}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the issued tokens: %w", err)
	}
	if err := wholefile.Write(b.path(), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the issued tokens: %w", err)
	}
	return nil
}

func (b *Book) path() string { return filepath.Join(b.dir, bookFile) }

// List returns all tokens, also those that have expired, by their names.
func (b *Book) List() ([]Issued, error) {
	list, err := b.read()
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Issued) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// Find returns the token whose text has a hash, nil when there is none. It may have expired. The time that it takes
// tells nothing of the tokens.
func (b *Book) Find(sum [sha256.Size]byte) (*Issued, error) {
	list, err := b.read()
	if err != nil {
		return nil, err
	}
	shown := []byte(hex.EncodeToString(sum[:]))
	var found *Issued
	for i := range list {
		if subtle.ConstantTimeCompare(shown, []byte(list[i].Hash)) == 1 {
			found = &list[i]
		}
	}
	return found, nil
}

// read returns the tokens of the file, which it reads when it is another one than before.
func (b *Book) read() ([]Issued, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	info, err := os.Lstat(b.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b.seen, b.issued = nil, nil
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the issued tokens: %w", err)
	case b.seen != nil && os.SameFile(info, b.seen) && info.ModTime().Equal(b.seen.ModTime()) && info.Size() == b.seen.Size():
		return b.issued, nil
	}
	list, err := readBook(b.path())
	if err != nil {
		b.seen, b.issued = nil, nil
		return nil, err
	}
	b.seen, b.issued = info, list
	return list, nil
}

func readBook(path string) ([]Issued, error) {
	f, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the issued tokens: %w", err)
	case !info.Mode().IsRegular():
		return nil, notRegular(path)
	}
	if why := foreign(info, os.Geteuid()); why != "" {
		return nil, &FileError{"file", path, why, "others may have added tokens: look at it, then chmod 600 " + path}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxBook))
	if err != nil {
		return nil, fmt.Errorf("read the issued tokens: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var found book
	if err := dec.Decode(&found); err != nil || dec.More() {
		return nil, &FileError{"file", path, "is not what windlass wrote", "remove it, and issue the tokens again"}
	}
	return found.Tokens, nil
}

// ParseTime reads how long a token lasts: days as in 30d, or hours and minutes as in 12h or 90m.
func ParseTime(text string) (time.Duration, error) {
	wrong := &RequestError{fmt.Sprintf("%q is no time for which a token lasts", text), "--expires 30d, or 12h"}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n := 0
		for _, c := range days {
			if c < '0' || c > '9' || n > longestDays {
				return 0, wrong
			}
			n = n*10 + int(c-'0')
		}
		if days == "" || n > longestDays {
			return 0, wrong
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, wrong
	}
	return d, nil
}
