package effect

import "github.com/windlass-run/windlass/echo"

// ModelFacts is what is known of a model before its first call. The zero value means that nothing is known.
type ModelFacts struct {
	// Name is the provider's name of the model, which decides how its tokens are counted; "" is the requested name.
	Name      string
	Window    int64 // tokens of a request and its answer together; 0: unknown
	MaxOutput int64 // tokens of the longest answer; 0: unknown
	Price     *echo.Price
	Tariff    *echo.Tariff // the price of a whole call; nil: unknown

	// NativeTools says whether the model has native tool calling, for phases that do not say; nil: unknown, which counts
	// as true.
	NativeTools *bool

	// Count counts a message as it is sent, with its overhead; nil: four bytes are a token. Exact says that Count uses the
	// model's own tokenizer.
	Count func(*echo.Message) int64
	Exact bool
	// CountFixed counts the rest of a request: its tools and the tokens of the protocol. May be nil.
	CountFixed func([]ToolSpec) int64
}
