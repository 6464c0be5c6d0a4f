// Package fetch brings published files into the cache: once, checked against a pinned checksum,
// whole or not at all. One process fetches; others wait. The next fetch removes the staging folder
// of an interrupted one.
package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/internal/source"
)

const (
	lockFile = "fetch.lock" // held by the process that fetches

	// StagingPrefix begins the names of the folders of a fetch that is not done.
	StagingPrefix = ".fetch-"
)

// Download puts what is to be fetched into a file in the staging folder and returns its path.
type Download func(ctx context.Context, staging string) (string, error)

// Checksum is what a downloaded file must be.
type Checksum struct {
	Hash hash.Hash
	Want []byte
	Name string // how the wanted value is shown
}

// Item is something that is fetched once and then lies in the cache.
type Item struct {
	What   string // in messages, as in "the engine"
	Dir    string // the cache's folder for such things: the lock and the staging folders are in it
	Target string // the finished file, below Dir
	Space  string // how much room is needed meanwhile, for a person whose disk is full
	Gate   *Gate  // decides whether it is downloaded
	Offer  Offer  // what the gate is asked
	Steps  Steps
	Sum    Checksum
	Get    Download
	// Make makes the file target, in the staging folder, of the verified download.
	Make func(ctx context.Context, packed, target string) error
}

// Fetch fetches the item, or waits for another process that does. When its gate refuses it, nothing
// is written.
func (it Item) Fetch(ctx context.Context, progress func(Progress)) error {
	if err := it.Gate.Allow(ctx, it.Offer); err != nil {
		return err
	}
	if err := os.MkdirAll(it.Dir, 0o755); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	unlock, err := Lock(ctx, filepath.Join(it.Dir, lockFile), func() { Tell(progress, Progress{Step: it.Steps.Wait}) })
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(it.Target); err == nil {
		return nil // another process fetched it while this one waited
	}
	removeStaging(it.Dir)
	staging, err := os.MkdirTemp(it.Dir, StagingPrefix)
	if err != nil {
		return it.explain(fmt.Errorf("make a folder to fetch into: %w", err))
	}
	defer func() { _ = os.RemoveAll(staging) }()
	made := filepath.Join(staging, filepath.Base(it.Target))
	if err := it.into(ctx, staging, made, progress); err != nil {
		return it.explain(err)
	}
	return it.install(made)
}

// removeStaging deletes what interrupted fetches left. Only the holder of the lock may call it.
func removeStaging(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, StagingPrefix+"*")) // what stays is only wasted space
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}
}

func (it Item) into(ctx context.Context, staging, made string, progress func(Progress)) error {
	packed, err := it.Get(ctx, staging)
	if err != nil {
		return err
	}
	if err := it.verify(ctx, packed, progress); err != nil {
		return err
	}
	if err := it.Make(ctx, packed, made); err != nil {
		return fmt.Errorf("unpack %s: %w", it.What, err)
	}
	return nil
}

// verify compares the checksum, before anything is unpacked or run.
func (it Item) verify(ctx context.Context, path string, progress func(Progress)) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("check %s: %w", it.What, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("check %s: %w", it.What, err)
	}
	m := NewMeter(it.Steps.Verify, info.Size(), progress)
	if _, err := io.Copy(io.MultiWriter(it.Sum.Hash, m), Reader(ctx, f)); err != nil {
		return fmt.Errorf("check %s: %w", it.What, err)
	}
	if got := it.Sum.Hash.Sum(nil); !bytes.Equal(got, it.Sum.Want) {
		return fmt.Errorf("the checksum of %s is wrong: fetched %x, expected %s: it was damaged or replaced on its way",
			it.What, got, it.Sum.Name)
	}
	return nil
}

// install moves the finished file to its place, where others see it.
func (it Item) install(made string) error {
	dir := filepath.Dir(it.Target)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the cache folder of %s: %w", it.What, err)
	}
	if err := os.Rename(made, it.Target); err != nil {
		return fmt.Errorf("put %s into the cache: %w", it.What, err)
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("put %s into the cache: %w", it.What, err)
	}
	_ = d.Sync() // not every file system can; then a crash now only costs another fetch
	return d.Close()
}

// explain explains a full disk, otherwise a puzzling write error.
func (it Item) explain(err error) error {
	var pathErr *fs.PathError
	full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || strings.Contains(err.Error(), "ENOSPC")
	if !full {
		return err
	}
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("no space left for %s in %s (%s are needed while it is unpacked): "+
		"free some, or set WINDLASS_CACHE to a folder on a larger disk: %w", it.What, it.Dir, it.Space, err)
}

// Reader ends a copy when its context does.
func Reader(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context //nolint:containedctx // it lives for one io.Copy, which takes no context
	r   io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

const lockPoll = 15 * time.Millisecond // flock cannot wait and listen to a context at once

// Lock takes an exclusive file lock. It calls waiting once if another process has it.
func Lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|source.NonBlock), flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if err == nil && !got {
		waiting()
		_, err = l.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = l.Unlock() }, nil // the lock ends with the descriptor in any case
}
