package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// File is a file that a run is given as an input. The input itself is its marker, a text.
type File struct {
	Input  string `json:"input"`  // the name of the input
	Type   string `json:"type"`   // as image/png
	Bytes  int64  `json:"bytes"`  // its size
	SHA256 string `json:"sha256"` // of its bytes, in hexadecimal

	// Shown says that the task of every phase has the file, and that there is no input: it is an image
	// that a validator is to see.
	Shown bool `json:"shown,omitempty"`

	// URL is the data: URL with its bytes; "" when the recording has them.
	URL string `json:"-"`
}

// FileKey returns the key of the entry that holds a file.
func FileKey(input string) echo.Key { return echo.RunKey().Named(echo.StepInput, input) }

// FilesRecorded returns the files with the bytes that entries have of them.
func FilesRecorded(files []File, entries []*echo.Entry) []File {
	if len(files) == 0 {
		return nil
	}
	urls := map[echo.Key]string{}
	for _, e := range entries {
		if e.NodeType == echo.NodeMessage && e.Message != nil && e.Message.Kind() == echo.KindInput {
			urls[e.Key] = attachedTo(e.Message).URL
		}
	}
	out := make([]File, len(files))
	for i, f := range files {
		out[i] = f
		out[i].URL = urls[FileKey(f.Input)]
	}
	return out
}

// message returns the message that holds the file in the record.
func (f *File) message() *echo.Message {
	part := echo.Part{Type: echo.PartImage, URL: f.URL}
	if !strings.HasPrefix(f.Type, "image/") {
		part = echo.Part{Type: echo.PartFile, URL: f.URL, Name: f.Input + ".pdf"}
	}
	return echo.Seal(echo.Draft{Role: echo.RoleUser, Kind: echo.KindInput, Parts: []echo.Part{part}})
}

// check says how a message does not hold the file.
func (f *File) check(m *echo.Message) error {
	if m.Redacted() != nil {
		return nil
	}
	part := attachedTo(m)
	_, data, ok := echo.AttachmentData(&part)
	if sum := sha256.Sum256(data); !ok || hex.EncodeToString(sum[:]) != f.SHA256 {
		return fmt.Errorf("the input %q is not the file that the run was given: its SHA-256 is not %s", f.Input, f.SHA256)
	}
	return nil
}

// attachedTo returns the part of a message that is an image or a file, the zero Part when there is none.
func attachedTo(m *echo.Message) echo.Part {
	for _, p := range m.Parts() {
		if p.Type != echo.PartText {
			return p
		}
	}
	return echo.Part{}
}

// takeFiles records the files that the run is given, before anything is sent: later they are taken from
// the record.
func (r *run) takeFiles() error {
	for i := range r.spec.Files {
		f := &r.spec.Files[i]
		key := FileKey(f.Input)
		m := f.message()
		if e := r.rec.Peek(echo.NodeMessage, key); e != nil && e.Message != nil {
			m = e.Message
		} else if f.URL == "" && (r.spec.Log != nil || r.rec.Replaying()) {
			return fmt.Errorf("the session has no copy of the file of the input %q: it was stopped before the copy was recorded; start it again", f.Input)
		}
		if err := r.rec.Message(key, m); err != nil {
			return err
		}
		if err := f.check(m); err != nil {
			return err
		}
		marker, _ := r.spec.Input[f.Input].(string)
		if p := attachedTo(m); p.URL != "" && (marker != "" || f.Shown) {
			r.files = append(r.files, attachment{marker, p, f.Shown})
		}
	}
	return nil
}

// attachment is a file of the run, and the text that stands for it in templates.
type attachment struct {
	marker string
	part   echo.Part
	shown  bool // whatever the text of the task
}

// taskMessage is the message of a task, with the files whose markers its instructions or the input
// below them have brought.
func (o *opening) taskMessage(text string) *echo.Message {
	parts := echo.Text(text)
	sent := o.includesInput() || o.v.templates.Uses(o.v.Def.Instructions, "input")
	for _, f := range o.v.run.files {
		if f.shown || sent && (strings.Contains(text, f.marker) || o.varied != nil && strings.Contains(o.asked, f.marker)) {
			parts = append(parts, f.part)
		}
	}
	return echo.Seal(echo.Draft{Role: echo.RoleUser, Kind: echo.KindTask, Parts: parts})
}
