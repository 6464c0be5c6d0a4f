package simulate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/windlass-run/windlass/internal/wholefile"
)

type callOf struct {
	File         string `json:"file"`
	Conversation int    `json:"conversation"`    // the line of a file, the visit of a session
	Visit        string `json:"visit,omitempty"` // of a session
	Policy       string `json:"policy"`
	Prices       string `json:"prices"`
	Call         int    `json:"call"` // from 1
}

// CallLine is a line of a file of calls.
type CallLine struct {
	callOf
	Sizes
}

// DumpLine is a line of a file of requests.
type DumpLine struct {
	callOf
	Messages []json.RawMessage `json:"messages"`
}

// Files are the files that a simulation writes. Each appears as a whole when everything went well,
// else not at all.
type Files struct {
	Named    int   // policies that a person chose; they come first, and lines are about them alone
	Policies int   // of the simulation
	Calls    *File // a [CallLine] for each call; nil: not wanted
	Requests *File // a [DumpLine] for each call; nil: not wanted
	Plot     *File // a picture; nil: not wanted
}

// SameFileError says that two flags name one file.
type SameFileError struct{ First, Second string }

func (e *SameFileError) Error() string {
	return fmt.Sprintf("--%s and --%s name the same file", e.First, e.Second)
}

// Create begins the files of these paths, "" for none: the picture, the calls and the requests. An
// error names the flag of the path, and may be a [*SameFileError].
func (o *Files) Create(picture, calls, requests string) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Discard())
		}
	}()
	flags := map[string]string{}
	for _, f := range []struct {
		flag, path string
		to         **File
		begins     string // what a file of before begins with
	}{{"svg", picture, &o.Plot, "<svg "}, {"calls", calls, &o.Calls, `{"file":`}, {"dump", requests, &o.Requests, `{"file":`}} {
		if f.path == "" {
			continue
		}
		path := filepath.Clean(f.path)
		if other, twice := flags[path]; twice {
			return &SameFileError{other, f.flag}
		}
		flags[path] = f.flag
		if err = wholefile.CheckOwn(f.path, f.begins); err != nil {
			return fmt.Errorf("--%s: %w", f.flag, err)
		}
		if *f.to, err = CreateFile(f.path); err != nil {
			*f.to = nil
			return fmt.Errorf("--%s: %w", f.flag, err)
		}
	}
	return nil
}

func (o *Files) each(do func(*File) error) error {
	var errs []error
	for _, f := range []*File{o.Plot, o.Calls, o.Requests} {
		if f != nil {
			errs = append(errs, do(f))
		}
	}
	return errors.Join(errs...)
}

// Write writes the lines of one conversation.
func (o *Files) Write(out *Outcome) error {
	if o.Calls == nil && o.Requests == nil {
		return nil
	}
	for i := range out.Runs {
		if i%o.Policies >= o.Named {
			continue
		}
		if err := o.writeRun(out.Conversation, &out.Runs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (o *Files) writeRun(c *Conversation, r *Run) error {
	for k := range r.Calls {
		call := callOf{c.File, c.Number, c.Name, r.Policy, r.Prices.Name, k + 1}
		if o.Calls != nil {
			if err := o.Calls.line(CallLine{call, r.Calls[k].Sizes}); err != nil {
				return err
			}
		}
		if o.Requests != nil {
			line := DumpLine{callOf: call}
			for _, m := range r.Calls[k].Request {
				line.Messages = append(line.Messages, m.JSON())
			}
			if err := o.Requests.line(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// Finish draws the picture and gives the files their names.
func (o *Files) Finish(r *Report) error {
	if o.Plot != nil {
		groups := r.Total
		if len(groups) == 0 {
			groups = r.Groups
		}
		if _, err := o.Plot.buf.WriteString(Plot(groups)); err != nil {
			return err
		}
	}
	return o.each((*File).commit)
}

// Discard takes back what was not finished.
func (o *Files) Discard() error { return o.each((*File).discard) }

// File is a file that gets its name when it is complete. It belongs to one goroutine.
type File struct {
	path string
	tmp  *wholefile.File // nil when it has its name, or was taken back
	buf  *bufio.Writer
	enc  *json.Encoder
}

// CreateFile begins a file. Nobody sees it before it is complete.
func CreateFile(path string) (*File, error) {
	path, err := wholefile.Target(path)
	if err != nil {
		return nil, err
	}
	tmp, err := wholefile.Create(path, 0o644)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, tmp: tmp, buf: bufio.NewWriterSize(tmp, 1<<16)}
	f.enc = json.NewEncoder(f.buf)
	f.enc.SetEscapeHTML(false)
	return f, nil
}

func (f *File) line(v any) error { return f.wrapped(f.enc.Encode(v)) }

func (f *File) commit() error {
	err := f.buf.Flush()
	if err == nil {
		err = f.tmp.Commit()
	}
	return f.wrapped(err)
}

func (f *File) wrapped(err error) error {
	if err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

func (f *File) discard() error { return f.tmp.Discard() }
