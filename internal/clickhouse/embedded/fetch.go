package embedded

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/windlass-run/windlass/internal/fetch"
)

const (
	engineDir   = "engine"     // in the cache folder
	libraryName = "libchdb.so" // the name in the cache, whatever the archive calls it
)

// fetch brings one library into target, which then exists whole or not at all. The item has what is
// downloaded and how.
func (c Config) fetch(ctx context.Context, target string, item fetch.Item, progress func(Progress)) (Engine, error) {
	engine := Engine{Kind: KindLibrary, Path: filepath.Join(target, libraryName)}
	item.What, item.Dir, item.Target, item.Space = "the engine", filepath.Join(c.CacheDir, engineDir), engine.Path, "about 800 MB"
	item.Steps = fetch.Steps{Wait: StepWait, Download: StepDownload, Verify: StepVerify, Unpack: StepUnpack}
	item.Make = func(ctx context.Context, packed, target string) error { return unpack(ctx, packed, target, progress) }
	if err := item.Fetch(ctx, progress); err != nil {
		return Engine{}, err
	}
	return engine, nil
}

func unpack(ctx context.Context, packed, target string, progress func(Progress)) error {
	f, err := os.Open(packed)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewReaderSize(fetch.Reader(ctx, f), 1<<20)
	magic, err := in.Peek(2)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(packed), err)
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) { // not gzip
		return writeLibrary(target, in, 0, progress)
	}
	library, size, err := fetch.Member(in, isLibrary)
	if errors.Is(err, fetch.ErrNoMember) {
		return errors.New("there is no libchdb in the archive")
	}
	if err != nil {
		return err
	}
	return writeLibrary(target, library, size, progress)
}

func isLibrary(name string) bool {
	return slices.Contains([]string{"libchdb.so", "libchdb.dylib"}, name)
}

func writeLibrary(target string, in io.Reader, size int64, progress func(Progress)) error {
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.MultiWriter(out, fetch.NewMeter(StepUnpack, size, progress)), in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// Step is a stage on the way to a running engine that takes long enough to be told.
type Step = fetch.Step

// The steps, in the order in which they come. Waiting may come before any of them.
const (
	StepWait     Step = "waiting for another windlass process"
	StepDownload Step = "downloading the ClickHouse engine"
	StepVerify   Step = "checking the engine's integrity"
	StepUnpack   Step = "unpacking the engine"
	StepStart    Step = "starting the engine"
)

// Progress is how far a step is.
type Progress = fetch.Progress
