package effecttest

import (
	"context"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

var awaitMistakes = map[string]func(*mistaken){
	"not recorded": func(x *mistaken) { x.await = x.elsewhere().Await },
	"under another key": func(x *mistaken) {
		x.await = func(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
			other := *req
			other.Key = req.Key.Numbered(echo.StepTool, 7).Step(echo.StepWait)
			return x.right.Await(ctx, &other)
		}
	},
	"without who has answered": func(x *mistaken) {
		x.await = func(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
			a, err := x.world.Answer(ctx, req)
			if a == nil || err != nil {
				return nil, err
			}
			return x.w.Answered(req, &echo.Answer{Value: a.Value, At: a.At})
		}
	},
	"at another time": func(x *mistaken) {
		x.await = func(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
			a, err := x.world.Answer(ctx, req)
			if a == nil || err != nil {
				return nil, err
			}
			a.At = a.At.Add(time.Second)
			return x.w.Answered(req, a)
		}
	},
	"asked twice": func(x *mistaken) {
		x.await = func(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
			_, _ = x.world.Answer(ctx, req)
			return x.right.Await(ctx, req)
		}
	},
}

var silenceMistakes = map[string]func(*mistaken){
	"recorded as answered": func(x *mistaken) {
		x.await = func(_ context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
			return x.w.Answered(req, &echo.Answer{At: req.Since})
		}
	},
	"of another wait": func(x *mistaken) {
		x.await = func(_ context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
			return nil, &effect.WaitingError{Request: effect.WaitRequest{Key: req.Key.Step(echo.StepCall), Wait: req.Wait}}
		}
	},
	"the wait is recorded again": func(x *mistaken) {
		x.await = func(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
			if err := x.w.Append(echo.NewEntry(req.Key, req.Wait)); err != nil {
				return nil, err
			}
			return x.right.Await(ctx, req)
		}
	},
}

// asksPeopleUnsafely asks before the record is durable.
func asksPeopleUnsafely(x *mistaken) {
	x.await = func(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
		a, err := x.world.Answer(ctx, req)
		if a == nil || err != nil {
			return nil, err
		}
		return x.w.Answered(req, a)
	}
}

// asksPeopleAnyway asks although the context has ended.
func asksPeopleAnyway(x *mistaken) {
	x.await = func(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
		return x.right.Await(context.WithoutCancel(ctx), req)
	}
}

// asksPeopleOnce gives an answer to the first process only, which has not recorded it.
func asksPeopleOnce() func(*mistaken) {
	var mu sync.Mutex
	given := false
	return func(x *mistaken) {
		x.await = func(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
			mu.Lock()
			defer mu.Unlock()
			if given {
				return nil, &effect.WaitingError{Request: *req}
			}
			given = true
			return x.right.Await(ctx, req)
		}
	}
}

// seesUnrecorded returns an answer that could not be recorded.
func seesUnrecorded(x *mistaken) {
	x.await = func(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
		a, _ := x.world.Answer(ctx, req)
		_, _ = x.w.Answered(req, a)
		return a, nil
	}
}
