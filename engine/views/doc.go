// Package views decides what each model call of a visit is sent: the view of its history (views.go), what
// is done when it does not fit (guard.go), how much room there is (settings.go), which marks it has for
// caches (cachemarks.go), which model is asked when one cannot be reached (fallback.go), and what a
// recorded run was sent when something was redacted since (followed.go).
package views
