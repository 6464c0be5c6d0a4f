package embedded

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	engineDir     = "engine"     // in the cache folder
	fetchLockFile = "fetch.lock" // held by the process that fetches
	stagingPrefix = ".fetch-"    // folders of a fetch that is not done
	libraryName   = "libchdb.so" // the name in the cache, whatever the archive calls it
)

// download puts what is to be fetched into a file in the staging folder and returns its path.
type download func(ctx context.Context, staging string) (string, error)

// checksum is what a downloaded file must be.
type checksum struct {
	hash hash.Hash
	want []byte
	name string // how the wanted value is shown
}

// fetch downloads, checks and unpacks one library into target, which then exists whole or not at all. Only one process
// fetches at a time; the others wait and use what it brought. An interrupted fetch leaves a staging folder behind, which
// the next one removes.
func (c Config) fetch(ctx context.Context, target string, sum checksum, get download, progress func(Progress)) (Engine, error) {
	root := filepath.Join(c.CacheDir, engineDir)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return Engine{}, fmt.Errorf("make the cache folder: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(root, fetchLockFile), func() { tell(progress, Progress{Step: StepWait}) })
	if err != nil {
		return Engine{}, err
	}
	defer unlock()
	engine := Engine{Kind: KindLibrary, Path: filepath.Join(target, libraryName)}
	if _, err := os.Stat(engine.Path); err == nil {
		return engine, nil // another process fetched it while this one waited
	}
	removeStaging(root)
	staging, err := os.MkdirTemp(root, stagingPrefix)
	if err != nil {
		return Engine{}, spaceError(root, fmt.Errorf("make a folder to fetch into: %w", err))
	}
	defer func() { _ = os.RemoveAll(staging) }()
	if err := fetchInto(ctx, staging, sum, get, progress); err != nil {
		return Engine{}, spaceError(root, err)
	}
	if err := install(filepath.Join(staging, libraryName), target); err != nil {
		return Engine{}, err
	}
	return engine, nil
}

// removeStaging deletes what interrupted fetches left. Only the holder of the lock may call it.
func removeStaging(root string) {
	left, _ := filepath.Glob(filepath.Join(root, stagingPrefix+"*")) // what stays is only wasted space
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}
}

func fetchInto(ctx context.Context, staging string, sum checksum, get download, progress func(Progress)) error {
	packed, err := get(ctx, staging)
	if err != nil {
		return err
	}
	if err := verify(ctx, packed, sum, progress); err != nil {
		return err
	}
	if err := unpack(ctx, packed, filepath.Join(staging, libraryName), progress); err != nil {
		return fmt.Errorf("unpack the engine: %w", err)
	}
	return nil
}

// verify compares the file's checksum with the pinned one, before anything of it is unpacked or run.
func verify(ctx context.Context, path string, sum checksum, progress func(Progress)) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("check the engine: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("check the engine: %w", err)
	}
	m := &meter{progress: progress, state: Progress{Step: StepVerify, Total: info.Size()}}
	if _, err := io.Copy(io.MultiWriter(sum.hash, m), contextReader{ctx, f}); err != nil {
		return fmt.Errorf("check the engine: %w", err)
	}
	if got := sum.hash.Sum(nil); !bytes.Equal(got, sum.want) {
		return fmt.Errorf("the engine's checksum is wrong: fetched %x, expected %s: it was damaged or replaced on its way",
			got, sum.name)
	}
	return nil
}

// unpack writes the library in packed, a .tar.gz archive or the library itself, to target. Nothing else of the archive
// is written, and no name in it is used as a path.
func unpack(ctx context.Context, packed, target string, progress func(Progress)) error {
	f, err := os.Open(packed)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewReaderSize(contextReader{ctx, f}, 1<<20)
	magic, err := in.Peek(2)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(packed), err)
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) { // not gzip
		return writeLibrary(target, in, 0, progress)
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	archive := tar.NewReader(z)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return errors.New("there is no libchdb in the archive")
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeReg && isLibrary(h.Name) {
			return writeLibrary(target, archive, h.Size, progress)
		}
	}
}

func isLibrary(name string) bool {
	return slices.Contains([]string{"libchdb.so", "libchdb.dylib"}, path.Base(name))
}

func writeLibrary(target string, in io.Reader, size int64, progress func(Progress)) error {
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	m := &meter{progress: progress, state: Progress{Step: StepUnpack, Total: size}}
	_, err = io.Copy(io.MultiWriter(out, m), in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// install moves the finished library to its place. The rename is the moment from which it exists for others.
func install(library, target string) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return fmt.Errorf("make the engine's cache folder: %w", err)
	}
	if err := os.Rename(library, filepath.Join(target, libraryName)); err != nil {
		return fmt.Errorf("put the engine into the cache: %w", err)
	}
	dir, err := os.Open(target)
	if err != nil {
		return fmt.Errorf("put the engine into the cache: %w", err)
	}
	_ = dir.Sync() // not every file system can; then a crash now only costs another fetch
	return dir.Close()
}

// spaceError explains a full disk, which otherwise shows as a puzzling write error of some temporary file.
func spaceError(dir string, err error) error {
	var pathErr *fs.PathError
	full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || strings.Contains(err.Error(), "ENOSPC")
	if !full {
		return err
	}
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("no space left for the engine in %s (about 800 MB are needed while it is unpacked): "+
		"free some, or set WINDLASS_CACHE to a folder on a larger disk: %w", dir, err)
}

// contextReader ends a copy when its context does.
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
