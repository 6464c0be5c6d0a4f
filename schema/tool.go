package schema

import (
	"encoding/json"
	"fmt"
	"sync"
)

// Tool returns the compiled schema of files that declare one tool. It is the part of the cascade schema that describes
// the elements of a cascade's tools.
var Tool = sync.OnceValue(func() *Schema {
	s, err := definition("Tool")
	if err != nil {
		panic(fmt.Sprintf("the embedded cascade schema: %v", err)) // A test compiles it.
	}
	return s
})

// Intra returns the compiled schema of settings for the context inside a phase that stand by themselves. It is the part
// of the cascade schema that describes intra_context.
var Intra = sync.OnceValue(func() *Schema {
	s, err := definition("IntraContext")
	if err != nil {
		panic(fmt.Sprintf("the embedded cascade schema: %v", err)) // A test compiles it.
	}
	return s
})

func definition(name string) (*Schema, error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal([]byte(cascadeJSON), &doc); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(map[string]any{"$ref": "#/$defs/" + name, "$defs": doc["$defs"]})
	if err != nil {
		return nil, err
	}
	return CompileOwn(raw)
}
