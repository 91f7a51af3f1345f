// json-bench [OBJECTS]: compares the speed of JSON parsing and writing with Foundation's, on a
// document of employees. Reports the processor time of this thread, the best of five interleaved
// rounds.
import ArborModel
import Foundation

let arguments = CommandLine.arguments.dropFirst()
guard let count = Int(arguments.first ?? "100000"), count > 0, arguments.count <= 1 else {
  print("usage: json-bench [OBJECTS]")
  exit(2)
}
let sample = SampleDocument(count: count)
let ways: [(name: String, run: () throws -> Int)] = [
  ("scan, whole document", sample.scan), ("scan, item by item", sample.scanItems),
  ("scan, line by line", sample.scanLines),
  ("every member as a typed value", sample.readTyped),
  ("every member as what it is", sample.readAny), ("JSONValue", sample.readValue),
  ("JSONValue, written", sample.writeValue),
  ("ValueAdapter, a struct", sample.decodeModels),
  ("JSONDecoder, a struct", sample.decode), ("JSONSerialization", sample.serialize),
]
_ = sample.value
var best = Array(repeating: Double.infinity, count: ways.count)
do {
  for _ in 0..<5 {
    for (number, way) in ways.enumerated() {
      let start = SampleDocument.processorTime()
      guard try way.run() == count else { throw CocoaError(.coderInvalidValue) }
      best[number] = min(best[number], SampleDocument.processorTime() - start)
    }
  }
} catch {
  FileHandle.standardError.write(Data("json-bench: \(error)\n".utf8))
  exit(1)
}
let size = Double(sample.data.count)
print("\(count) objects, \(String(format: "%.1f", size / 1e6)) MB")
for (way, time) in zip(ways, best) {
  let name = way.name.padding(toLength: 32, withPad: " ", startingAt: 0)
  print(name, String(format: "%6.0f MB/s %8.1f ms", size / time / 1e6, time * 1e3))
}
