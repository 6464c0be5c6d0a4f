package autocontext

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// Recorded is what a model call was sent, in the very words.
type Recorded struct {
	*echo.Request
	Dialect dialect.Dialect

	render *Renderer
}

// Messages returns what was sent for message i of the history, in order.
func (r *Recorded) Messages(i int) []*echo.Message {
	var out []*echo.Message
	for _, m := range r.Request.Messages(i) {
		out = append(out, r.render.message(m))
	}
	return out
}

// RecordReader reads off the record of a session what each model call was sent, in the words of the model's dialect. It
// is fed with all entries of one session in their order and belongs to one goroutine.
type RecordReader struct {
	requests *echo.RequestReader
	visits   map[echo.Key]*Renderer // by the key of the visit
}

// NewRecordReader returns a reader that has seen nothing yet.
func NewRecordReader() *RecordReader {
	return &RecordReader{requests: echo.NewRequestReader(), visits: map[echo.Key]*Renderer{}}
}

// Read takes the next entry and returns the request that it is the selection of, nil for any other entry. It is valid
// until the next call. An error says that the selection does not fit the history before it.
func (r *RecordReader) Read(e *echo.Entry) (*Recorded, error) {
	if e.NodeType == echo.NodePhaseStart {
		r.visits[e.Key.VisitKey()] = NewRenderer(dialect.Recorded(e))
	}
	req, err := r.requests.Read(e)
	if req == nil || err != nil {
		return nil, err
	}
	render := r.renderer(e)
	return &Recorded{Request: req, Dialect: render.dialect, render: render}, nil
}

// Worded returns the message of an entry in the words of its visit: the message itself when they are no others. The entry
// must have one.
func (r *RecordReader) Worded(e *echo.Entry) *echo.Message { return r.renderer(e).message(e.Message) }

func (r *RecordReader) renderer(e *echo.Entry) *Renderer {
	visit := e.Key.VisitKey()
	if r.visits[visit] == nil {
		r.visits[visit] = NewRenderer(dialect.Native)
	}
	return r.visits[visit]
}
