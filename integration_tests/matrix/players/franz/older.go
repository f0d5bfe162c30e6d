//go:build older

package main

import "github.com/twmb/franz-go/pkg/kgo"

func consumerProtocol() []kgo.Opt { panic("this version speaks the classic protocol only") }

func newWorker(string, []kgo.Opt) member { panic("this version knows no share groups") }
