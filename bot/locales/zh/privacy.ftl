# Texts of /privacy.

cmd-privacy = 隐私
    .description = 这个机器人保存了你的哪些信息，以及如何删除
privacy-title = 你的数据
privacy-text = 保存的内容：你单独做的测验和答案、你选的语言，以及每次提问的结果（已回答、已引用、未回答）和是否有帮助。不保存提问的文字，也不会发给其他公司。
privacy-keeps = 你已同意：指南没有回答的问题，其文字会以不记名的方式保存，供指南作者参考。
privacy-keeps-not = 从不保存你提问的文字。若你同意，指南没有回答的问题会不记名保存，方便作者补上空缺。
privacy-forgotten = 已删除你单独做的测验、答案和设置。现场测验的成绩属于班级，会保留。
button-keep = 保存这类问题
button-keep-not = 不保存问题
button-forget = 删除我的数据
button-forget-sure = 确认全部删除
