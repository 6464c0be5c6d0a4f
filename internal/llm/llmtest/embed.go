package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
)

const (
	embeddingsPath = "/v1/embeddings"
	maxInputs      = 2048 // as OpenAI has it
	defaultDims    = 8    // of vectors that no one decides
)

// EmbedRequest is a request for vectors that has passed the checks.
type EmbedRequest struct {
	Model      string
	Input      []string
	Dimensions int // 0: none were asked for
	Options    map[string]any
	Header     http.Header
	Number     int // from 1, in the order of arrival of all requests
}

// Embeddings returns the requests for vectors that passed the checks so far.
func (s *Server) Embeddings() []EmbedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]EmbedRequest(nil), s.embedded...)
}

func (s *Server) serveEmbeddings(w http.ResponseWriter, r *http.Request, data []byte) {
	req, err := readEmbedRequest(data)
	if err != nil {
		s.refuse(w, err)
		return
	}
	if len(s.cfg.Models) > 0 && !contains(s.cfg.Models, req.Model) {
		writeError(w, http.StatusNotFound, "model_not_found", fmt.Sprintf("The model `%s` does not exist", req.Model))
		return
	}
	req.Header = r.Header
	s.mu.Lock()
	s.count++
	req.Number = s.count
	s.embedded = append(s.embedded, *req)
	s.mu.Unlock()
	var a *Answer
	if s.cfg.Embed != nil {
		a = s.cfg.Embed(*req)
	}
	if a == nil {
		a = &Answer{Vectors: Vectors(req.Input, req.Dimensions)}
	}
	s.respond(w, r, &Request{Model: req.Model}, a.embeddings(req))
}

// Vectors returns a vector of so many dimensions (0: 8) for each text, equal for equal texts.
func Vectors(texts []string, dims int) [][]float64 {
	if dims == 0 {
		dims = defaultDims
	}
	out := make([][]float64, len(texts))
	for i, text := range texts {
		h := fnv.New64a()
		_, _ = h.Write([]byte(text)) // it never fails
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		for range dims {
			out[i] = append(out[i], r.NormFloat64())
		}
	}
	return out
}

// embeddings returns the answer with its body written out.
func (a *Answer) embeddings(req *EmbedRequest) *Answer {
	out := *a
	out.Header = a.Header.Clone()
	if out.Header == nil {
		out.Header = http.Header{}
	}
	out.Header.Set("Content-Type", "application/json")
	if a.Raw != "" {
		return &out
	}
	data := []any{}
	for i, v := range a.Vectors {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	body := map[string]any{"object": "list", "model": req.Model, "data": data}
	if a.Usage != nil {
		body["usage"] = a.Usage
	}
	out.Raw = string(encode(body))
	if a.Fault.Truncate {
		out.Raw = out.Raw[:len(out.Raw)/2]
	}
	return &out
}

// readEmbedRequest checks a body the way a provider would.
func readEmbedRequest(data []byte) (*EmbedRequest, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	if err := duplicateMember(data); err != nil {
		return nil, err
	}
	req := &EmbedRequest{Options: map[string]any{}}
	for name, raw := range members {
		var err error
		switch name {
		case "model":
			err = json.Unmarshal(raw, &req.Model)
		case "input":
			err = json.Unmarshal(raw, &req.Input)
		case "dimensions":
			if err = json.Unmarshal(raw, &req.Dimensions); err == nil && req.Dimensions < 1 {
				err = errors.New("it must be at least 1")
			}
		case "user", "input_type":
			var v any
			err = json.Unmarshal(raw, &v)
			req.Options[name] = v
		default:
			return nil, fmt.Errorf("unrecognized request argument supplied: %s", name)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return req, req.check()
}

func (r *EmbedRequest) check() error {
	switch {
	case r.Model == "":
		return errors.New("you must provide a model parameter")
	case len(r.Input) == 0 || len(r.Input) > maxInputs:
		return fmt.Errorf("input has %d texts, it must have 1 to %d", len(r.Input), maxInputs)
	case contains(r.Input, ""):
		return errors.New("input cannot be an empty string")
	}
	return nil
}
