package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

var chunks = []string{
	`{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"word "},"logprobs":null,"finish_reason":null}]}`,
	`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": \"\\n\/\b\f\r\t\"}"}}]},"finish_reason":"tool_calls"}],"usage":null}`,
	`{"choices":[],"usage":{"prompt_tokens":1e3,"completion_tokens":-0.5E+2,"x":[true,false,null,"\u00e9",{}]},"x_groq":{"id":"r","usage":{"prompt_tokens":1}}}`,
	`{"choices":[{"delta":{"content":"","reasoning_content":"So","reasoning":""}},{"delta":{"reasoning":{"text":"x"},"reasoning_content":null}}]}`,
	`{"choices":[{"index":-1,"message":{"content":null,"refusal":"no","tool_calls":null},"usage":{"cost":1}}],"error":{"message":"x"}}`,
	` { "model" : "é" , "choices" : [ { } , { "index" : 2 } ] , "systemFingerprint" : "x" } ` + "\n",
	// What the fast pass leaves to encoding/json.
	`{"Model":"m","CHOICES":[{"Delta":{"content":[{"type":"text","text":"x"},{"type":"image"}]}}]}`,
	`{"choices":[{"delta":{"content":"\u00e9\ud83d\ude00\ud800"}}]}`, `{"model":"` + "\xff" + `"}`,
	`{"model":"a","model":"b","choices":[{"index":1}],"choices":[{}],"ſ":1}`,
	`{"choices":[{"delta":{"tool_calls":[{"index":null,"function":{"arguments":{"x": 1}}},{"index":1234567890,"function":null}]}}]}`,
	`{"choices":[null,{"delta":null,"message":null}],"x_groq":null}`, `null`,
	// What is none.
	`{"model":1}`, `{"choices":{}}`, `{"choices":[1]}`, `{"model":"a"`, `{"model":"a"}}`, `{"model":"a",}`, `{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":1e}`, `{"a":"\x"}`,
	`{"a":"\u12g4"}`, "{\"a\":\"\n\"}", `{"a":tru}`, `{"a" 1}`, `{"choices":[{"index":1.5}]}`, `{"choices":[{"delta":{"content":5}}]}`, ``, `[`, `{"a":[1 2]}`, `"x`, `{"a":"\`, `{"a":"\u1`,
}

// read reads a chunk in both ways, the fast one into a chunk that was used before.
func read(t *testing.T, used *Chunk, data []byte) {
	t.Helper()
	var want Chunk
	wantErr := want.readSlowly(data)
	kept := bytes.Clone(data)
	err := used.Read(data)
	require.Equal(t, wantErr != nil, err != nil, "%q: %v, %v", data, wantErr, err)
	require.Equal(t, kept, data, "reading changes nothing")
	if err == nil {
		require.Empty(t, cmp.Diff(&want, used, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Chunk{})), "%q", data)
	}
}

func TestChunksAreReadAsByEncodingJSON(t *testing.T) {
	t.Parallel()
	var used Chunk
	for _, data := range chunks {
		read(t, &used, []byte(data))
	}
}

// An answer has no more choices than can be meant, and none is kept of what has more.
func TestChoicesAreBounded(t *testing.T) {
	t.Parallel()
	of := func(n int) []byte {
		return []byte(`{"choices":[` + strings.Repeat(`{"index":0},`, n-1) + `{"index":0}]}`)
	}
	var used Chunk
	read(t, &used, of(maxChoices))
	require.NoError(t, used.Read(of(maxChoices)))
	read(t, &used, of(maxChoices+1))
	require.ErrorContains(t, used.Read(of(1_000_000)), "there are more than 128 choices")
	require.LessOrEqual(t, cap(used.Choices), 2*maxChoices)
}

// What endpoints send every day takes one pass.
func TestCommonChunksAreReadInOnePass(t *testing.T) {
	t.Parallel()
	for _, data := range chunks[:5] {
		s, c := scanner{b: []byte(data)}, Chunk{}
		require.True(t, s.chunk(&c) && s.ended(), data)
		require.True(t, json.Valid([]byte(data)))
	}
}

func FuzzChunk(f *testing.F) {
	for i, data := range chunks {
		f.Add([]byte(data), []byte(chunks[(i+1)%len(chunks)]))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var used Chunk
		read(t, &used, first)
		read(t, &used, second)
	})
}

func BenchmarkChunk(b *testing.B) {
	for i, name := range []string{"text", "call", "usage"} {
		b.Run(name, func(b *testing.B) {
			data := []byte(chunks[i])
			var c Chunk
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Read(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
