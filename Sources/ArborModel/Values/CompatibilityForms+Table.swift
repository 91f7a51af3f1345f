extension CompatibilityForms {
  /// Returns the plain form of a character in the blocks below, and any other character unchanged:
  /// its compatibility decomposition, composed (NFKC).
  static func plain(_ scalar: Unicode.Scalar) -> String {
    for (first, forms) in blocks where scalar.value >= first {
      let index = Int(scalar.value - first)
      return index < forms.count && !forms[index].isEmpty ? forms[index] : String(scalar)
    }
    return String(scalar)
  }

  /// The first character of each block and the plain forms of its characters (empty if unchanged),
  /// in descending order.
  private static let blocks = table.sorted { $0.key > $1.key }.map { ($0.key, forms(in: $0.value)) }

  private static func forms(in text: String) -> [String] {
    text.utf8.split(separator: UInt8(ascii: " ")).flatMap { part -> [String] in
      let form = Substring(part).unicodeScalars
      guard form.first == "∅" else {
        let plain = form.map { $0 == "␣" ? " " : $0 }
        return [String(String.UnicodeScalarView(plain))]
      }
      return Array(repeating: "", count: Int(Substring(form.dropFirst())) ?? 1)
    }
  }

  /// The plain forms of consecutive characters, from the Unicode Character Database 15.1. ∅ is an
  /// unchanged character, ∅3 are three of them, and ␣ is a space.
  private static let table: [UInt32: String] = [
    0xAA: """
    a ∅7 2 3 ∅5 1 o
    """,
    0x2070: """
    0 i ∅2 4 5 6 7 8 9 + − = ( ) n 0 1 2 3 4 5 6 7 8 9 + − = ( ) ∅ a e o x ə h k l m n p s t \
    ∅3
    """,
    0x2100: """
    a/c a/s C °C ∅ c/o c/u Ɛ ∅ °F g H H H h ħ I I L l ∅ N No ∅2 P Q R R R ∅2 SM TEL TM ∅ Z ∅ \
    Ω ∅ Z ∅ K Å B C ∅ e E F ∅ M o א ב ג ד i ∅ FAX π γ Γ Π ∑ ∅4 D d e i j ∅6
    """,
    0x2160: """
    I II III IV V VI VII VIII IX X XI XII L C D M i ii iii iv v vi vii viii ix x xi xii l c \
    d m
    """,
    0x2460: """
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 (1) (2) (3) (4) (5) (6) (7) (8) (9) \
    (10) (11) (12) (13) (14) (15) (16) (17) (18) (19) (20) 1. 2. 3. 4. 5. 6. 7. 8. 9. 10. \
    11. 12. 13. 14. 15. 16. 17. 18. 19. 20. (a) (b) (c) (d) (e) (f) (g) (h) (i) (j) (k) (l) \
    (m) (n) (o) (p) (q) (r) (s) (t) (u) (v) (w) (x) (y) (z) A B C D E F G H I J K L M N O P \
    Q R S T U V W X Y Z a b c d e f g h i j k l m n o p q r s t u v w x y z 0
    """,
    0x3200: """
    (ᄀ) (ᄂ) (ᄃ) (ᄅ) (ᄆ) (ᄇ) (ᄉ) (ᄋ) (ᄌ) (ᄎ) (ᄏ) (ᄐ) (ᄑ) (ᄒ) (가) (나) (다) (라) (마) (바) (사) (아) \
    (자) (차) (카) (타) (파) (하) (주) (오전) (오후) ∅ (一) (二) (三) (四) (五) (六) (七) (八) (九) (十) (月) (火) \
    (水) (木) (金) (土) (日) (株) (有) (社) (名) (特) (財) (祝) (労) (代) (呼) (学) (監) (企) (資) (協) (祭) (休) \
    (自) (至) 問 幼 文 箏 ∅8 PTE 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 ᄀ ᄂ ᄃ ᄅ ᄆ ᄇ ᄉ ᄋ ᄌ ᄎ \
    ᄏ ᄐ ᄑ ᄒ 가 나 다 라 마 바 사 아 자 차 카 타 파 하 참고 주의 우 ∅ 一 二 三 四 五 六 七 八 九 十 月 火 水 木 金 土 日 株 有 社 名 \
    特 財 祝 労 秘 男 女 適 優 印 注 項 休 写 正 上 中 下 左 右 医 宗 学 監 企 資 協 夜 36 37 38 39 40 41 42 43 44 45 46 \
    47 48 49 50 1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月 Hg erg eV LTD ア イ ウ エ オ カ キ ク ケ コ サ シ \
    ス セ ソ タ チ ツ テ ト ナ ニ ヌ ネ ノ ハ ヒ フ ヘ ホ マ ミ ム メ モ ヤ ユ ヨ ラ リ ル レ ロ ワ ヰ ヱ ヲ 令和 アパート アルファ アンペア \
    アール イニング インチ ウォン エスクード エーカー オンス オーム カイリ カラット カロリー ガロン ガンマ ギガ ギニー キュリー ギルダー キロ キログラム \
    キロメートル キロワット グラム グラムトン クルゼイロ クローネ ケース コルナ コーポ サイクル サンチーム シリング センチ セント ダース デシ ドル トン ナノ \
    ノット ハイツ パーセント パーツ バーレル ピアストル ピクル ピコ ビル ファラッド フィート ブッシェル フラン ヘクタール ペソ ペニヒ ヘルツ ペンス ページ ベータ \
    ポイント ボルト ホン ポンド ホール ホーン マイクロ マイル マッハ マルク マンション ミクロン ミリ ミリバール メガ メガトン メートル ヤード ヤール ユアン \
    リットル リラ ルピー ルーブル レム レントゲン ワット 0点 1点 2点 3点 4点 5点 6点 7点 8点 9点 10点 11点 12点 13点 14点 15点 16点 \
    17点 18点 19点 20点 21点 22点 23点 24点 hPa da AU bar oV pc dm dm2 dm3 IU 平成 昭和 大正 明治 株式会社 pA nA \
    μA mA kA KB MB GB cal kcal pF nF μF μg mg kg Hz kHz MHz GHz THz μl ml dl kl fm nm μm mm \
    cm km mm2 cm2 m2 km2 mm3 cm3 m3 km3 m∕s m∕s2 Pa kPa MPa GPa rad rad∕s rad∕s2 ps ns μs ms \
    pV nV μV mV kV MV pW nW μW mW kW MW kΩ MΩ a.m. Bq cc cd C∕kg Co. dB Gy ha HP in KK KM kt \
    lm ln log lx mb mil mol PH p.m. PPM PR sr Sv Wb V∕m A∕m 1日 2日 3日 4日 5日 6日 7日 8日 9日 10日 \
    11日 12日 13日 14日 15日 16日 17日 18日 19日 20日 21日 22日 23日 24日 25日 26日 27日 28日 29日 30日 31日 gal
    """,
    0xFB00: """
    ff fi fl ffi ffl st st ∅12 մն մե մի վն մխ ∅5 יִ ∅ ײַ ע א ד ה כ ל ם ר ת + שׁ שׂ שּׁ שּׂ \
    אַ אָ אּ בּ גּ דּ הּ וּ זּ ∅ טּ יּ ךּ כּ לּ ∅ מּ ∅ נּ סּ ∅ ףּ פּ ∅ צּ קּ רּ שּ תּ וֹ בֿ \
    כֿ פֿ אל ٱ ٱ ٻ ٻ ٻ ٻ پ پ پ پ ڀ ڀ ڀ ڀ ٺ ٺ ٺ ٺ ٿ ٿ ٿ ٿ ٹ ٹ ٹ ٹ ڤ ڤ ڤ ڤ ڦ ڦ ڦ ڦ ڄ ڄ ڄ ڄ ڃ ڃ \
    ڃ ڃ چ چ چ چ ڇ ڇ ڇ ڇ ڍ ڍ ڌ ڌ ڎ ڎ ڈ ڈ ژ ژ ڑ ڑ ک ک ک ک گ گ گ گ ڳ ڳ ڳ ڳ ڱ ڱ ڱ ڱ ں ں ڻ ڻ ڻ ڻ \
    ۀ ۀ ہ ہ ہ ہ ھ ھ ھ ھ ے ے ۓ ۓ ∅33 ڭ ڭ ڭ ڭ ۇ ۇ ۆ ۆ ۈ ۈ ۇٴ ۋ ۋ ۅ ۅ ۉ ۉ ې ې ې ې ى ى ئا ئا ئە \
    ئە ئو ئو ئۇ ئۇ ئۆ ئۆ ئۈ ئۈ ئې ئې ئې ئى ئى ئى ی ی ی ی ئج ئح ئم ئى ئي بج بح بخ بم بى بي تج \
    تح تخ تم تى تي ثج ثم ثى ثي جح جم حج حم خج خح خم سج سح سخ سم صح صم ضج ضح ضخ ضم طح طم ظم \
    عج عم غج غم فج فح فخ فم فى في قح قم قى قي كا كج كح كخ كل كم كى كي لج لح لخ لم لى لي مج \
    مح مخ مم مى مي نج نح نخ نم نى ني هج هم هى هي يج يح يخ يم يى يي ذٰ رٰ ىٰ ␣ٌّ ␣ٍّ ␣َّ ␣ُّ \
    ␣ِّ ␣ّٰ ئر ئز ئم ئن ئى ئي بر بز بم بن بى بي تر تز تم تن تى تي ثر ثز ثم ثن ثى ثي فى في قى \
    قي كا كل كم كى كي لم لى لي ما مم نر نز نم نن نى ني ىٰ ير يز يم ين يى يي ئج ئح ئخ ئم ئه \
    بج بح بخ بم به تج تح تخ تم ته ثم جح جم حج حم خج خم سج سح سخ سم صح صخ صم ضج ضح ضخ ضم طح \
    ظم عج عم غج غم فج فح فخ فم قح قم كج كح كخ كل كم لج لح لخ لم له مج مح مخ مم نج نح نخ نم \
    نه هج هم هٰ يج يح يخ يم يه ئم ئه بم به تم ته ثم ثه سم سه شم شه كل كم لم نم نه يم يه ـَّ \
    ـُّ ـِّ طى طي عى عي غى غي سى سي شى شي حى حي جى جي خى خي صى صي ضى ضي شج شح شخ شم شر سر صر \
    ضر طى طي عى عي غى غي سى سي شى شي حى حي جى جي خى خي صى صي ضى ضي شج شح شخ شم شر سر صر ضر \
    شج شح شخ شم سه شه طم سج سح سخ شج شح شخ طم ظم اً اً ∅18 تجم تحج تحج تحم تخم تمج تمح تمخ \
    جمح جمح حمي حمى سحج سجح سجى سمح سمح سمج سمم سمم صحح صحح صمم شحم شحم شجي شمخ شمخ شمم شمم \
    ضحى ضخم ضخم طمح طمح طمم طمي عجم عمم عمم عمى غمم غمي غمى فخم فخم قمح قمم لحم لحي لحى لجج \
    لجج لخم لخم لمح لمح محج محم محي مجح مجم مخج مخم ∅2 مجخ همج همم نحم نحى نجم نجم نجى نمي \
    نمى يمم يمم بخي تجي تجى تخي تخى تمي تمى جمي جحى جمى سخى صحي شحي ضحي لجي لمي يحي يجي يمي \
    ممي قمي نحي قمح لحم عمي كمي نجح مخي لجم كمم لجم نجح جحي حجي مجي فمي بحي كمم عجم صمم سخي \
    نجي ∅40 صلے قلے الله اكبر محمد صلعم رسول عليه وسلم صلى صلى␣الله␣عليه␣وسلم جل␣جلاله ریال \
    ∅3
    """,
    0xFE30: """
    .. — – _ _ ( ) { } 〔 〕 【 】 《 》 〈 〉 「 」 『 』 ∅2 [ ] ␣̅ ␣̅ ␣̅ ␣̅ _ _ _ , 、 . ∅ ; : ? ! — ( \
    ) { } 〔 〕 # & * + - < > = ∅ \\ $ % @ ∅4 ␣ً ـً ␣ٌ ∅ ␣ٍ ∅ ␣َ ـَ ␣ُ ـُ ␣ِ ـِ ␣ّ ـّ ␣ْ ـْ ء \
    آ آ أ أ ؤ ؤ إ إ ئ ئ ئ ئ ا ا ب ب ب ب ة ة ت ت ت ت ث ث ث ث ج ج ج ج ح ح ح ح خ خ خ خ د د ذ ذ \
    ر ر ز ز س س س س ش ش ش ش ص ص ص ص ض ض ض ض ط ط ط ط ظ ظ ظ ظ ع ع ع ع غ غ غ غ ف ف ف ف ق ق ق ق \
    ك ك ك ك ل ل ل ل م م م م ن ن ن ن ه ه ه ه و و ى ى ي ي ي ي لآ لآ لأ لأ لإ لإ لا لا ∅4 ! " # \
    $ % & ' ( ) * + , - . / 0 1 2 3 4 5 6 7 8 9 : ; < = > ? @ A B C D E F G H I J K L M N O \
    P Q R S T U V W X Y Z [ \\ ] ^ _ ` a b c d e f g h i j k l m n o p q r s t u v w x y z { \
    | } ~ ⦅ ⦆ 。 「 」 、 ・ ヲ ァ ィ ゥ ェ ォ ャ ュ ョ ッ ー ア イ ウ エ オ カ キ ク ケ コ サ シ ス セ ソ タ チ ツ テ ト ナ ニ ヌ \
    ネ ノ ハ ヒ フ ヘ ホ マ ミ ム メ モ ヤ ユ ヨ ラ リ ル レ ロ ワ ン ゙ ゚ ∅ ᄀ ᄁ ᆪ ᄂ ᆬ ᆭ ᄃ ᄄ ᄅ ᆰ ᆱ ᆲ ᆳ ᆴ ᆵ ᄚ ᄆ ᄇ ᄈ \
    ᄡ ᄉ ᄊ ᄋ ᄌ ᄍ ᄎ ᄏ ᄐ ᄑ ᄒ ∅3 ᅡ ᅢ ᅣ ᅤ ᅥ ᅦ ∅2 ᅧ ᅨ ᅩ ᅪ ᅫ ᅬ ∅2 ᅭ ᅮ ᅯ ᅰ ᅱ ᅲ ∅2 ᅳ ᅴ ᅵ ∅3 ¢ £ ¬ ␣̄ \
    ¦ ¥ ₩ ∅ │ ← ↑ → ↓ ■ ○ ∅
    """,
    0x1D400: """
    A B C D E F G H I J K L M N O P Q R S T U V W X Y Z a b c d e f g h i j k l m n o p q r \
    s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z a b c d e f g ∅ i j \
    k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z a b \
    c d e f g h i j k l m n o p q r s t u v w x y z A ∅ C D ∅2 G ∅2 J K ∅2 N O P Q ∅ S T U V \
    W X Y Z a b c d ∅ f ∅ h i j k l m n ∅ p q r s t u v w x y z A B C D E F G H I J K L M N \
    O P Q R S T U V W X Y Z a b c d e f g h i j k l m n o p q r s t u v w x y z A B ∅ D E F \
    G ∅2 J K L M N O P Q ∅ S T U V W X Y ∅ a b c d e f g h i j k l m n o p q r s t u v w x y \
    z A B ∅ D E F G ∅ I J K L M ∅ O ∅3 S T U V W X Y ∅ a b c d e f g h i j k l m n o p q r s \
    t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z a b c d e f g h i j k \
    l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z a b c \
    d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U \
    V W X Y Z a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M \
    N O P Q R S T U V W X Y Z a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E \
    F G H I J K L M N O P Q R S T U V W X Y Z a b c d e f g h i j k l m n o p q r s t u v w \
    x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z a b c d e f g h i j k l m n o \
    p q r s t u v w x y z ı ȷ ∅2 Α Β Γ Δ Ε Ζ Η Θ Ι Κ Λ Μ Ν Ξ Ο Π Ρ Θ Σ Τ Υ Φ Χ Ψ Ω ∇ α β γ δ \
    ε ζ η θ ι κ λ μ ν ξ ο π ρ ς σ τ υ φ χ ψ ω ∂ ε θ κ φ ρ π Α Β Γ Δ Ε Ζ Η Θ Ι Κ Λ Μ Ν Ξ Ο Π \
    Ρ Θ Σ Τ Υ Φ Χ Ψ Ω ∇ α β γ δ ε ζ η θ ι κ λ μ ν ξ ο π ρ ς σ τ υ φ χ ψ ω ∂ ε θ κ φ ρ π Α Β \
    Γ Δ Ε Ζ Η Θ Ι Κ Λ Μ Ν Ξ Ο Π Ρ Θ Σ Τ Υ Φ Χ Ψ Ω ∇ α β γ δ ε ζ η θ ι κ λ μ ν ξ ο π ρ ς σ τ \
    υ φ χ ψ ω ∂ ε θ κ φ ρ π Α Β Γ Δ Ε Ζ Η Θ Ι Κ Λ Μ Ν Ξ Ο Π Ρ Θ Σ Τ Υ Φ Χ Ψ Ω ∇ α β γ δ ε ζ \
    η θ ι κ λ μ ν ξ ο π ρ ς σ τ υ φ χ ψ ω ∂ ε θ κ φ ρ π Α Β Γ Δ Ε Ζ Η Θ Ι Κ Λ Μ Ν Ξ Ο Π Ρ Θ \
    Σ Τ Υ Φ Χ Ψ Ω ∇ α β γ δ ε ζ η θ ι κ λ μ ν ξ ο π ρ ς σ τ υ φ χ ψ ω ∂ ε θ κ φ ρ π Ϝ ϝ ∅2 0 \
    1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 \
    5 6 7 8 9
    """,
  ]
}
