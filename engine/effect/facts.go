package effect

import "github.com/windlass-run/windlass/echo"

// ModelFacts is what is known of a model before its first call. The zero value: nothing.
type ModelFacts struct {
	Name        string // the provider's, which decides how tokens are counted; "": the requested one
	Window      int64  // tokens of a request and its answer together; 0: unknown
	MaxOutput   int64  // tokens of the longest answer; 0: unknown
	Price       *echo.Price
	Tariff      *echo.Tariff // the price of a whole call; nil: unknown
	NativeTools *bool        // for phases that do not say; nil: unknown, which counts as true

	Count      func(*echo.Message) int64 // of a message as it is sent; nil: four bytes are a token
	Exact      bool                      // Count uses the model's own tokenizer
	CountFixed func([]ToolSpec) int64    // of tools and the protocol of a request; may be nil
}
