package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
)

// embeddings is an answer of /embeddings.
type embeddings struct {
	Data  []embedded      `json:"data"`
	Usage *wireUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type embedded struct {
	Index     *int      `json:"index"`
	Embedding []float32 `json:"embedding"`
}

// readEmbeddings reads a response body, and reports why it is not an answer.
func readEmbeddings(res *http.Response, secrets cleaner) (*embeddings, error) {
	data, err := io.ReadAll(&limitedBody{body: res.Body, left: maxAnswer})
	if err != nil {
		return nil, brokenOff(err)
	}
	var a embeddings
	if err := json.Unmarshal(data, &a); err != nil {
		if json.Valid(data) {
			return nil, &badAnswerError{why: "the answer holds no vectors of numbers"}
		}
		return nil, &badAnswerError{why: textOf(secrets.body(data))}
	}
	if err := (&chunk{Error: a.Error}).failure(data); err != nil {
		return nil, err
	}
	return &a, nil
}

// vectors returns the vectors in the order of the texts, of unit length, nil for one of zeros.
func (a *embeddings) vectors(texts int) ([][]float32, error) {
	if len(a.Data) != texts {
		return nil, &badAnswerError{why: fmt.Sprintf("the answer has %d vectors for %d texts", len(a.Data), texts)}
	}
	out, taken := make([][]float32, texts), make([]bool, texts)
	for i := range a.Data {
		d := &a.Data[i]
		at := i
		if d.Index != nil { // without one, they are in the order of the texts
			at = *d.Index
		}
		if at < 0 || at >= texts || taken[at] {
			return nil, &badAnswerError{why: fmt.Sprintf("the answer has no vector for each text: one is for text %d of %d", at+1, texts)}
		}
		if len(d.Embedding) == 0 {
			return nil, &badAnswerError{why: fmt.Sprintf("the vector of text %d is empty", at+1)}
		}
		if len(d.Embedding) > maxDims {
			return nil, &badAnswerError{why: fmt.Sprintf("the vector of text %d has %d dimensions, more than the limit of %d", at+1, len(d.Embedding), maxDims)}
		}
		taken[at], out[at] = true, unit(d.Embedding)
	}
	return out, nil
}

// unit brings a vector to length 1. It returns nil for one that is all zero.
func unit(v []float32) []float32 {
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return nil
	}
	scale := 1 / math.Sqrt(square)
	for i := range v {
		v[i] = float32(float64(v[i]) * scale)
	}
	return v
}
