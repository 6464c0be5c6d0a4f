package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// rewrittenFile is what a journal is called while it is written anew.
const rewrittenFile = File + ".rewritten"

// Rewrite writes the journal anew: with a header, and with what change returns for each entry, nil
// for one that stays. The lines of those stay byte for byte, but for their checksums. What there is
// of a torn line is left out. The new journal takes the place of the old one when it is on the disk,
// so a process that dies leaves one of the two. Errors are those of [Read] and of change; then the
// old one is there.
func (o *Owned) Rewrite(h Header, change func(*echo.Entry) (*echo.Entry, error)) (err error) {
	path := filepath.Join(o.dir, File)
	from, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	defer from.Close() //nolint:errcheck // only read from
	to, err := createAnew(filepath.Join(o.dir, rewrittenFile))
	if err != nil {
		return fmt.Errorf("write journal %s anew: %w", path, err)
	}
	r := rewriting{tail: newTail(path, folderOf(path), from, chain.BoundsOfAll), to: to, change: change}
	if err = r.run(h); err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err == nil {
		err = os.Rename(to.Name(), path)
	}
	if err != nil {
		_ = os.Remove(to.Name())
		if IsUnreadable(err) {
			return err
		}
		return fmt.Errorf("write journal %s anew: %w", path, err)
	}
	return syncDir(o.dir)
}

// createAnew makes an empty file of the user alone, in place of one that a process left that died.
func createAnew(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// rewriting is a journal that is read and written line by line.
type rewriting struct {
	tail   *Tail
	to     io.Writer
	change func(*echo.Entry) (*echo.Entry, error)
	header Header // as it is written
	sum    chain.Sum
}

func (r *rewriting) run(h Header) error {
	if err := r.tail.readHeader(); err != nil {
		if errors.Is(err, io.EOF) {
			return &DamageError{Path: r.tail.path, Line: 1, Err: ErrNotBegun}
		}
		return err
	}
	h.Version, h.SessionID = Version, r.tail.header.SessionID
	head, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode journal header: %w", err)
	}
	r.header = h
	if err := r.write(head); err != nil {
		return err
	}
	for {
		line, err := r.tail.readLine(int(r.tail.seq) + 2)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = r.entry(line)
		}
		if err != nil {
			return err
		}
	}
}

func (r *rewriting) entry(line []byte) error {
	t := r.tail
	e, sum, err := t.checkEntry(line)
	if err != nil {
		return &DamageError{Path: t.path, Line: int(t.seq) + 2, Err: err}
	}
	t.seq, t.sum = t.seq+1, sum
	object := slices.Concat(line[:len(line)-chain.Size], []byte{'}'})
	changed, err := r.change(e)
	if err != nil {
		return err
	}
	if changed != nil {
		if object, err = changed.AppendJSON(nil); err != nil {
			return fmt.Errorf("encode journal entry %d (%s): %w", e.Seq, e.Key, err)
		}
		again, err := decodeEntry(object, &r.header)
		if err == nil {
			err = checkSeq(again, t.seq)
		}
		if err != nil {
			return err
		}
	}
	return r.write(object)
}

// write writes a line, given as an object without its checksum.
func (r *rewriting) write(object []byte) error {
	if err := chain.CheckLength(len(object)); err != nil {
		return err
	}
	open := object[:len(object)-1]
	r.sum = r.sum.Next(open)
	_, err := r.to.Write(chain.End(open[:len(open):len(open)], r.sum))
	return err
}
