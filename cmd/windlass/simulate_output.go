package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/windlass-run/windlass/internal/simulate"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// callLine is a line of --calls. Sizes are in tokens, a quarter of the bytes of the messages as sent.
type callLine struct {
	File         string  `json:"file"`
	Conversation int     `json:"conversation"`    // the line of the file, or the ordinal of the visit in a session
	Visit        string  `json:"visit,omitempty"` // of a session
	Policy       string  `json:"policy"`
	Prices       string  `json:"prices"`
	Call         int     `json:"call"`    // from 1
	History      int     `json:"history"` // messages of the conversation before the answer
	Tokens       int64   `json:"tokens_sent"`
	Shared       int64   `json:"tokens_shared"` // of them in the prefix that the call before has as well
	Frontier     int     `json:"frontier"`      // tool results before this message, from 0, may be masked
	AsOf         int     `json:"as_of"`         // the turn as of which ages were taken
	Money        float64 `json:"money"`         // in USD, or in tokens at full price
	Invalid      string  `json:"invalid,omitempty"`
}

// dumpLine is a line of --dump.
type dumpLine struct {
	File         string            `json:"file"`
	Conversation int               `json:"conversation"`
	Visit        string            `json:"visit,omitempty"`
	Policy       string            `json:"policy"`
	Prices       string            `json:"prices"`
	Call         int               `json:"call"`
	Messages     []json.RawMessage `json:"messages"`
}

// outputs are the files that a simulation writes. Each appears as a whole when everything went well, else not at all.
type outputs struct {
	named    int // policies that a person chose; they come first
	policies int
	calls    *lineFile
	dump     *lineFile
	plot     *lineFile
}

func (o *outputs) open(opts simulateOptions) error {
	paths := map[string]string{}
	for _, f := range []struct {
		flag, path string
		to         **lineFile
	}{{"plot", opts.plot, &o.plot}, {"calls", opts.calls, &o.calls}, {"dump", opts.dump, &o.dump}} {
		if f.path == "" {
			continue
		}
		if other, twice := paths[filepath.Clean(f.path)]; twice {
			return usageError(fmt.Errorf("--%s and --%s name the same file", other, f.flag), "a file for each")
		}
		paths[filepath.Clean(f.path)] = f.flag
		file, err := newLineFile(f.path)
		if err != nil {
			return usageError(fmt.Errorf("--%s: %w", f.flag, err), "check that the folder exists and can be written")
		}
		*f.to = file
	}
	return nil
}

func (o *outputs) each(do func(*lineFile) error) error {
	var errs []error
	for _, f := range []*lineFile{o.plot, o.calls, o.dump} {
		if f != nil {
			errs = append(errs, do(f))
		}
	}
	return errors.Join(errs...)
}

// write writes the lines of one conversation.
func (o *outputs) write(out *simulate.Outcome) error {
	if o.calls == nil && o.dump == nil {
		return nil
	}
	for i := range out.Runs {
		if i%o.policies >= o.named {
			continue
		}
		if err := o.writeRun(out.Conversation, &out.Runs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (o *outputs) writeRun(c *simulate.Conversation, r *simulate.Run) error {
	for k := range r.Calls {
		call := &r.Calls[k]
		if o.calls != nil {
			err := o.calls.line(callLine{
				File: c.File, Conversation: c.Number, Visit: c.Name, Policy: r.Policy, Prices: r.Prices.Name, Call: k + 1,
				History: call.History, Tokens: call.Tokens, Shared: call.Shared, Frontier: call.Frontier, AsOf: call.AsOf,
				Money: call.Money, Invalid: call.Invalid,
			})
			if err != nil {
				return err
			}
		}
		if o.dump != nil {
			line := dumpLine{File: c.File, Conversation: c.Number, Visit: c.Name, Policy: r.Policy, Prices: r.Prices.Name, Call: k + 1}
			for _, m := range call.Request {
				line.Messages = append(line.Messages, m.JSON())
			}
			if err := o.dump.line(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish draws the picture and gives the files their names.
func (o *outputs) finish(r *simulate.Report) error {
	if o.plot != nil {
		groups := r.Total
		if len(groups) == 0 {
			groups = r.Groups
		}
		if _, err := o.plot.buf.WriteString(simulate.Plot(groups)); err != nil {
			return err
		}
	}
	return o.each((*lineFile).commit)
}

// discard takes back what was not finished.
func (o *outputs) discard() error { return o.each((*lineFile).discard) }

// lineFile is a file that gets its name when it is complete.
type lineFile struct {
	path string
	tmp  *wholefile.File // nil when it has its name, or was taken back
	buf  *bufio.Writer
	enc  *json.Encoder
}

func newLineFile(path string) (*lineFile, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := replaceable(path); err != nil {
		return nil, err
	}
	tmp, err := wholefile.Create(path, 0o644)
	if err != nil {
		return nil, err
	}
	f := &lineFile{path: path, tmp: tmp, buf: bufio.NewWriterSize(tmp, 1<<16)}
	f.enc = json.NewEncoder(f.buf)
	f.enc.SetEscapeHTML(false)
	return f, nil
}

func (f *lineFile) line(v any) error {
	if err := f.enc.Encode(v); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

func (f *lineFile) commit() error {
	err := f.buf.Flush()
	if err == nil {
		err = f.tmp.Commit()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

func (f *lineFile) discard() error { return f.tmp.Discard() }

// counter shows on a terminal how far long work is, in a line that is drawn over. Elsewhere it shows nothing.
type counter struct {
	out        io.Writer
	what       string
	done, all  int
	percent    int
	onTerminal bool
}

func newCounter(w io.Writer, what string, all int) *counter {
	f, ok := w.(*os.File)
	return &counter{out: w, what: what, all: all, onTerminal: ok && term.IsTerminal(int(f.Fd()))}
}

func (c *counter) step() {
	c.done++
	percent := c.done * 100 / c.all
	if !c.onTerminal || percent == c.percent {
		return
	}
	c.percent = percent
	fmt.Fprintf(c.out, "\r%d of %d %s (%d%%)", c.done, c.all, c.what, percent)
}

// clear takes the line away.
func (c *counter) clear() {
	if c.onTerminal && c.percent > 0 {
		fmt.Fprint(c.out, "\r\x1b[K")
	}
}
