package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/schema"
)

// maxBody is how many bytes a body may have: a cascade of 4 MiB, and its input.
const maxBody = 16 << 20

const bodyTime = 30 * time.Second

// readBody reads the JSON of a request into v after checking its form. Without a body v stays.
func (s *Server) readBody(r *request, v any) error {
	data, err := s.bodyOf(r.ResponseWriter, r.Request)
	switch {
	case err != nil:
		return err
	case r.forms.body == nil && len(data) > 0:
		return NewProblem(BadRequest, "send none", "%s %s takes no body", r.Method, r.URL.Path)
	case len(data) == 0 && r.forms.required:
		return NewProblem(BadRequest, "send a JSON object; GET /api/openapi.json describes it", "%s %s needs a body", r.Method, r.URL.Path)
	case len(data) == 0:
		return nil
	}
	if err := saidOnce(data); err != nil {
		return NewProblem(BadRequest, "say each thing once", "the body cannot be read: %v", err)
	}
	violations, err := r.forms.body.ValidateContext(r.Context(), data)
	if err != nil {
		return NewProblem(BadRequest, "send one JSON object", "the body cannot be read: %v", err)
	}
	if len(violations) > 0 {
		return &Problem{
			Kind: failure.InvalidRequest, Detail: "the body is not what is expected: " + schema.Join(violations, 3),
			Try: "GET /api/openapi.json describes it", Violations: violations,
		}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // of values that are recorded as they were sent
	if err := dec.Decode(v); err != nil {
		return NewProblem(BadRequest, "GET /api/openapi.json describes the body", "the body cannot be read: %v", err)
	}
	return nil
}

// bodyOf returns a body that is JSON by its media type, which no form of a page can have.
func (s *Server) bodyOf(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > s.maxBody {
		return nil, tooLargeBody(s.maxBody)
	}
	deadlines := http.NewResponseController(w)
	_ = deadlines.SetReadDeadline(time.Now().Add(s.times.body)) // not supported by the recorders of tests
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, tooLargeBody(tooLarge.Limit)
	case err != nil:
		return nil, NewProblem(BadRequest, "send it again", "the body did not arrive: %v", err)
	}
	_ = deadlines.SetReadDeadline(time.Time{})
	declared := r.Header.Get("Content-Type")
	if len(data) == 0 && declared == "" {
		return nil, nil
	}
	if media, _, err := mime.ParseMediaType(declared); err != nil || media != "application/json" {
		return nil, NewProblem(WrongMediaType, "send the header Content-Type: application/json", "the body is declared as %q", declared)
	}
	return data, nil
}

func tooLargeBody(limit int64) *Problem {
	return NewProblem(BodyTooLarge, "send less; a cascade in a file below a --root of the server is named with file", "the body has more than %d bytes", limit)
}
