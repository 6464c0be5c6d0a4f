// Package reports makes the tables that people read: sessions, costs, deliveries, simulations. Widths
// are the columns of a terminal, 0 for none.
package reports
