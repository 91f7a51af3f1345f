import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct ByteCodingTests {
  @Test("Encoded numbers and texts are decoded to the same values")
  func numbersComeBack() throws {
    var random = SeededRandom()
    for _ in 0..<500 {
      let number = random.next() >> UInt64.random(in: 0..<64, using: &random)
      var writer = ByteWriter()
      writer.appendVariable(number)
      writer.append(UInt16(truncatingIfNeeded: number))
      writer.appendRun("ä\(number)".utf8)
      writer.append(number)
      writer.appendChecksum(seed: 7)
      try writer.bytes.withUnsafeBytes { bytes in
        var reader = try #require(ByteReader(checked: bytes, seed: 7))
        let (variable, half) = (reader.readVariable(), reader.read(UInt16.self))
        let (text, word) = (reader.readText(), reader.read(UInt64.self))
        #expect(variable == number && half == UInt16(truncatingIfNeeded: number))
        #expect(text == "ä\(number)" && word == number && reader.isAtEnd)
        let isForeign = ByteReader(checked: bytes, seed: 8) == nil
        #expect(isForeign)
      }
    }
  }

  @Test("Reading past the end yields nil")
  func nothingIsReadBehindTheEnd() {
    let bytes: [UInt8] = [0x85, 0x80, 0x80]
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      let endless = reader.readVariable()
      reader = ByteReader(bytes)
      let (word, long, negative, run) = (
        reader.read(UInt32.self), reader.readBytes(4), reader.readBytes(-1), reader.readRun()
      )
      reader = ByteReader(bytes)
      let all = reader.readBytes(3)
      #expect(endless == nil && word == nil && run == nil)
      #expect(long == nil && negative == nil)
      #expect(all?.count == 3 && reader.isAtEnd)
    }
    let endless = [UInt8](repeating: 0xFF, count: 30)
    endless.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      let number = reader.readVariable()
      #expect(number == nil)
    }
  }

  @Test("Text that isn't valid UTF-8 yields nil")
  func textsAreUTF8() {
    let bytes: [UInt8] = [2, 0xC3, 0x28]
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      let text = reader.readText()
      #expect(text == nil)
    }
  }

  @Test("Checksums are CRC-32C")
  func checksumsAreCastagnoli() {
    // The CRC-32C check value of the digits 1 to 9.
    #expect(Checksum.of(Array("123456789".utf8)) == 0xE306_9283)
  }
}
