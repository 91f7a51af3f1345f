// world STORE [ISO-CODES-FOLDER]: demonstrates the library with the world's countries,
// subdivisions, currencies and languages, and with a company from a tree of seeds.
import ArborData
import Foundation

let arguments = CommandLine.arguments.dropFirst()
guard let path = arguments.first,
  let folder = arguments.dropFirst().first.map({ URL(filePath: $0) })
    ?? ISOCodes.folders.first(where: { FileManager.default.fileExists(atPath: $0.path) })
else {
  print("usage: world STORE [ISO-CODES-FOLDER]   (install iso-codes, or pass its json folder)")
  exit(2)
}
do {
  try await Demonstration(store: URL(filePath: path), documents: folder).run()
} catch {
  FileHandle.standardError.write(Data("world: \(error)\n".utf8))
  exit(1)
}
